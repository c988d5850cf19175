package exec

import "github.com/hql-db/hql/exec/scan"

// What is told and counted of each access to a table.
type (
	ScanTracer = scan.Tracer
	ScanStart  = scan.Start
	ScanEnd    = scan.End
	TableStats = scan.TableStats
)
