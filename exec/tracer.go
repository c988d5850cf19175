package exec

import "github.com/hql-db/hql/exec/scan"

// The data that is traced and counted for each access to a table.
type (
	ScanTracer = scan.Tracer
	ScanStart  = scan.Start
	ScanEnd    = scan.End
	TableStats = scan.TableStats
)
