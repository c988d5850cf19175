package exec

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hql-db/hql/hbase"
	. "github.com/hql-db/hql/internal/scripttest"
	"github.com/hql-db/hql/types"
)

// phoenixTables are tables as Phoenix makes them and as hql describes them. A descending number is
// its complement; Phoenix has a TIMESTAMP's nanoseconds behind its milliseconds, and a cell _0 in each row.
var phoenixTables = []struct{ name, phoenix, hql string }{
	{"EVENTS", `HOST VARCHAR NOT NULL, TS BIGINT NOT NULL, LEVEL VARCHAR, MSG VARCHAR, VAL DOUBLE, CNT BIGINT
		CONSTRAINT pk PRIMARY KEY (HOST, TS)) SALT_BUCKETS = 8, COLUMN_ENCODED_BYTES = NONE`, ""}, // phoenix_events of layouts.sql
	{"TYPES", `H VARCHAR NOT NULL, I INTEGER NOT NULL, UI UNSIGNED_INT NOT NULL, UL UNSIGNED_LONG NOT NULL, C CHAR(4) NOT NULL, D DATE NOT NULL, T TIMESTAMP NOT NULL,
		CS SMALLINT, CT TINYINT, CI INTEGER, CB BIGINT, CD DOUBLE, CF FLOAT, UF UNSIGNED_FLOAT, UD UNSIGNED_DOUBLE, US UNSIGNED_SMALLINT, CL BOOLEAN, DT DATE, CV VARCHAR
		CONSTRAINT pk PRIMARY KEY (H, I, UI, UL, C, D, T)) COLUMN_ENCODED_BYTES = NONE`,
		`h STRING, i INT, ui BIGINT, ul BIGINT, c STRING, d TIMESTAMP, t TIMESTAMP, cs SMALLINT FROM "0":CS AS ORDERED INT16, ct TINYINT FROM "0":CT AS ORDERED INT8,
		ci INT FROM "0":CI AS ORDERED INT32, cb BIGINT FROM "0":CB AS ORDERED INT64, cd DOUBLE FROM "0":CD AS PHOENIX DOUBLE, cf FLOAT FROM "0":CF AS PHOENIX FLOAT,
		uf FLOAT FROM "0":UF AS FLOAT32, ud DOUBLE FROM "0":UD AS FLOAT64, us INT FROM "0":US AS UINT16, cl BOOLEAN FROM "0":CL AS PHOENIX BOOLEAN, dt TIMESTAMP FROM "0":DT AS ORDERED INT64, cv STRING FROM "0":CV)
		ROW KEY (h AS TEXT, X'00', i AS ORDERED INT32, ui AS UINT32, ul AS UINT64, c AS TEXT(4), d AS ORDERED INT64, t AS ORDERED INT64, X'00000000')`},
	{"DOWN", `H VARCHAR NOT NULL, L BIGINT NOT NULL, I INTEGER NOT NULL, D DATE NOT NULL, S VARCHAR NOT NULL, V VARCHAR
		CONSTRAINT pk PRIMARY KEY (H, L DESC, I DESC, D DESC, S)) SALT_BUCKETS = 5, COLUMN_ENCODED_BYTES = NONE`,
		`h STRING, l BIGINT, i INT, d TIMESTAMP, s STRING, v STRING FROM "0":V)
		ROW KEY (PHOENIX_SALT(5) AS UINT8, h AS TEXT, X'00', -1 - l AS ORDERED INT64, -1 - i AS ORDERED INT32, -1 - d AS ORDERED INT64, s AS TEXT)`},
}

// mapped compares tables that are mapped by hand.
func (pw *phoenixWorld) mapped(t *testing.T) {
	c := pw.c
	phoenix := func(sql string) string {
		t.Helper()
		out, err := pw.query(sql)
		if err != nil {
			t.Fatalf("Phoenix: %s: %v", sql, err)
		}
		return out
	}
	w := newWorld(t, c, Config{FullScan: AllowFullScan})
	for _, table := range phoenixTables {
		t.Run(table.name, func(t *testing.T) {
			phoenix("CREATE TABLE " + table.name + " (" + table.phoenix)
			name := strings.ToLower(table.name)
			if table.hql != "" {
				w.Do("CREATE EXTERNAL TABLE " + name + " (" + strings.Replace(table.hql, "ROW KEY", "STORED IN '"+table.name+"' ROW KEY", 1))
			} else {
				name = "phoenix_events"
				for _, def := range Layouts(t) {
					if def.Name == name {
						w.Do(def.String())
					}
				}
			}
			tab, _ := w.Catalog().Table(name)
			var cols, numbers []string // as both print them: moments as numbers, REALs with all their digits
			for _, col := range tab.Columns {
				cols, numbers = append(cols, col.Name), append(numbers, col.Name)
				switch col.Type {
				case types.Timestamp:
					numbers[col.Index] = "CAST(" + col.Name + " AS BIGINT)"
				case types.Float:
					numbers[col.Index] = "CAST(" + col.Name + " AS DOUBLE)"
				}
			}
			order := strings.Join(cols, " NULLS LAST, ") + " NULLS LAST"
			// The same values as literals of both.
			r := rand.New(rand.NewPCG(7, 7))
			pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
			var ours []string
			for i := range 40 {
				var a, b []string
				for _, col := range tab.Columns {
					v := "NULL"
					inKey := tab.Layouts[0].PartOf(col.Index) != nil
					switch t := col.Type.String(); {
					case !inKey && r.IntN(4) == 0:
					case t == "STRING":
						if v = pick("'a'", "'b'", "'ab'", "'zz z'", "'\u00e9'"); col.Name == "c" && v == "'\u00e9'" {
							v = "'z'" // CHAR takes ASCII only
						}
					case t == "TIMESTAMP":
						v = pick("1970-01-01 00:00:00.000", "1969-12-31 23:59:59.999", "2024-02-29 12:34:56.789", "2099-01-01 00:00:00.001")
						a, b = append(a, "TO_DATE('"+v+"', 'yyyy-MM-dd HH:mm:ss.SSS')"), append(b, "TIMESTAMP '"+v+"'")
						continue
					case t == "DOUBLE" || t == "FLOAT":
						v = pick("0.5", "100.25", "3.25")
						if !strings.HasPrefix(col.Name, "u") {
							v = pick(v, "-1.5", "-1000000.5")
						}
					case t == "BOOLEAN":
						v = pick("TRUE", "FALSE")
					case strings.HasPrefix(col.Name, "u"):
						v = pick("0", "1", "7", "30000")
					case t == "TINYINT":
						v = pick("-128", "-1", "0", "127")
					default:
						v = pick("-30000", "-1", "0", "1", "30000")
					}
					a, b = append(a, v), append(b, v)
				}
				if table.name == "DOWN" { // few values: no two rows with one key
					s := fmt.Sprintf("'s%d'", i)
					a[4], b[4] = s, s
				}
				phoenix("UPSERT INTO " + table.name + " VALUES (" + strings.Join(a, ", ") + ")")
				ours = append(ours, "("+strings.Join(b, ", ")+")")
			}
			ask := func() string {
				return w.Do("SELECT " + strings.Join(numbers, ", ") + " FROM " + name + " ORDER BY " + order)
			}
			theirs := func() string {
				return phoenix("SELECT " + strings.Join(cols, ", ") + " FROM " + table.name + " ORDER BY " + order)
			}
			want := theirs()
			if got := ask(); got != want {
				t.Fatalf("hql reads\n%s\nPhoenix\n%s", got, want)
			}
			for _, where := range []string{"H = 'a'", "H LIKE 'a%'", "I > -1 AND H = 'b'", "I <= 0", "L > 0", "L BETWEEN -1 AND 1 AND H = 'a'", "HOST = 'a' AND TS < 1", "TS >= 0", "UI = 7 AND H IN ('a', 'b')", "CNT > 0", "CD < 0", "CL = TRUE", "CF > 0"} {
				column := strings.Fields(where)[0]
				if _, ok := tab.Column(column); !ok {
					continue
				}
				a, b := phoenix("SELECT COUNT(*) FROM "+table.name+" WHERE "+where), w.Do("SELECT COUNT(*) FROM "+name+" WHERE "+where)
				if a != b {
					t.Errorf("%s: Phoenix %s, hql %s", where, a, b)
				}
			}
			written := rawCells(t, c, table.name)
			w.Do("DELETE FROM " + name)
			if n := phoenix("SELECT COUNT(*) FROM " + table.name); n != "0" {
				t.Errorf("%s rows after DELETE", n)
			}
			w.Do("UPSERT INTO " + name + " VALUES " + strings.Join(ours, ", "))
			if n := phoenix("SELECT COUNT(*) FROM " + table.name); n != fmt.Sprint(strings.Count(want, "\n")+1) {
				t.Errorf("Phoenix counts %s of hql's rows", n)
			}
			if got := rawCells(t, c, table.name); got != written {
				t.Errorf("hql wrote\n%s\nPhoenix\n%s", got, written)
			}
			if got := theirs(); got != want {
				t.Errorf("Phoenix reads\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// rawCells prints the cells of a table without their times.
func rawCells(t *testing.T, c hbase.Client, table string) string {
	t.Helper()
	var b strings.Builder
	for r, err := range hbase.Rows(context.Background(), c, hbase.ScanRange{Table: table}, nil) {
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%q", r.Key)
		for _, cell := range r.Cells {
			fmt.Fprintf(&b, " %s:%s=%q", cell.Family, cell.Qualifier, cell.Value)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
