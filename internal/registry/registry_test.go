package registry

import (
	"bytes"
	"strings"
	"testing"
)

// This program imports neither package, and each error names the missing import.
func TestMissing(t *testing.T) {
	_, embedded := OpenEmbedded("", nil)
	_, read := Columnar.Open(t.Context(), &bytes.Buffer{}, "arrow")
	_, written := Columnar.Create(&bytes.Buffer{}, nil, "parquet")
	for want, err := range map[string]error{
		`opens the embedded store (mem: and dir:): add import _ "github.com/hql-db/hql/embedded"`: embedded,
		`reads arrow files: add import _ "github.com/hql-db/hql/columnar"`:                        read,
		`writes parquet files: add import _ "github.com/hql-db/hql/columnar"`:                     written,
	} {
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
