// Package columnar writes and reads rows as Arrow and Parquet, in batches of bounded size. Each type of hql has an
// exact counterpart. A value without one, such as a DECIMAL with more digits than Arrow's, is an error.
//
//	BOOLEAN                      bool
//	TINYINT SMALLINT INT BIGINT  int8 int16 int32 int64
//	FLOAT DOUBLE                 float32 float64
//	DECIMAL                      decimal128(38, s)
//	STRING                       utf8; dictionary(int32, utf8) where the first rows repeat values
//	JSON                         utf8, as the extension arrow.json
//	BYTES                        binary
//	DATE TIME                    date32, time32(ms)
//	TIMESTAMP                    timestamp(ms, UTC)
//	NULL                         null
//
// The library for Arrow is arrow-go, the Arrow project's own (Apache-2.0); no other in Go writes Arrow. Its package for
// Parquet needs gRPC, Thrift and computation kernels, so Parquet is parquet-go's (Apache-2.0).
//
// The import of this package lets COPY read and write both formats:
//
//	import _ "github.com/hql-db/hql/columnar"
package columnar

import (
	"context"
	"io"

	"github.com/hql-db/hql/internal/registry"
	"github.com/hql-db/hql/planner/plan"
)

func init() {
	registry.Columnar.Open = func(ctx context.Context, r io.Reader, format string) (registry.RowReader, error) {
		return Open(ctx, r, format)
	}
	registry.Columnar.Create = func(w io.Writer, columns []plan.OutputColumn, format string) (registry.RowWriter, error) {
		return NewFile(w, columns, format)
	}
}
