package spark

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/hbase/hbasetest"
	"github.com/hql-db/hql/internal/python"
)

// Spark's tasks log in to an HBase that wants Kerberos, with the keytab of the address; without it the error is hql's. The
// test takes half a minute, and needs HQL_TEST_SPARK.
func TestSparkKerberos(t *testing.T) {
	if os.Getenv("HQL_TEST_SPARK") == "" {
		t.Skip("set HQL_TEST_SPARK=1 to let Spark log in")
	}
	c := hbasetest.Kerberos(t)
	t.Setenv("KRB5_CONFIG", c.Krb5Conf)
	address := "hbase://" + c.Quorum + "/hbase?"
	keytab := address + "kerberos=alice@HQL.TEST&keytab=" + url.QueryEscape(c.Keytab)
	ctx := context.Background()
	db, err := hql.Open(ctx, keytab, hql.WithWrites(true))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(ctx, "CREATE TABLE spark_kerberos (k INT PRIMARY KEY) SPLIT AT (X'80000002'); INSERT INTO spark_kerberos VALUES (1), (2), (3)"); err != nil {
		t.Fatal(err)
	}
	spark := python.StartSpark(t, "..", "", "local[2]")
	ask := func(connect string) (string, string) {
		a := spark.Ask(t, python.Question{Options: map[string]string{"table": "spark_kerberos", "connect": connect}})
		var got []string
		for _, row := range a.Rows {
			got = append(got, *row[0])
		}
		return strings.Join(got, " "), a.Error
	}
	if got, err := ask(keytab); got != "1 2 3" {
		t.Errorf("%q %s", got, err)
	}
	if got, err := ask(address + "kerberos=alice@HQL.TEST&keytab=" + url.QueryEscape(c.Keytab+".none")); got != "" || !strings.Contains(err, "keytab") {
		t.Errorf("without the keytab: %q %s", got, err)
	}
}
