package exec

import "github.com/hql-db/hql/exec/scan"

// The types of the counts and traces of table accesses.
type (
	ScanTracer = scan.Tracer
	ScanStart  = scan.Start
	ScanEnd    = scan.End
	TableStats = scan.TableStats
)
