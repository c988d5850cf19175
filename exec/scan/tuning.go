package scan

// Tuning is the size of a scan's requests. Answers do not depend on it; tests use small values, so that small tables
// exercise every path.
type Tuning struct {
	// FirstRows is the first fetch of a reader that may need few of the rows.
	FirstRows int
	// OpenScanners is the number of streams up to which a merge keeps scanners open between two fetches. With more
	// streams, such as for hundreds of salts, it keeps none.
	OpenScanners int
	// ResponseBytes is the size of the responses held by all open scans of a table access together.
	ResponseBytes int
	// PieceBytes is the largest read of a piece of a statement, if statistics show where to cut a region.
	PieceBytes int

	// How hopping is tried and given up. A hop is a call of its own and costs as much as reading a few hundred rows. So
	// each look at the keys reads some rows; if they have many values, the next look is longer. Some looks are long
	// although hops pay, since a hop does not show how many rows it skipped.

	HopRows     int   // of a short look
	SeekRows    int   // rows that cost as much to read as a range does to seek
	HopPays     int   // rows behind a value that make a hop to the next one worth its call
	HopLongest  int   // rows of the longest look: if hops do not pay in it, they are given up
	HopLongLook int   // each of so many looks is a long one
	MaxHops     int64 // looks of one table access
	MaxHopsOnly int64 // the same if the statement may not read the rest whole
}

// DefaultTuning returns the tuning of an engine without its own.
func DefaultTuning() Tuning {
	return Tuning{FirstRows: 100, OpenScanners: 64, ResponseBytes: 4 << 20, PieceBytes: 512 << 20, HopRows: 100, SeekRows: 8, HopPays: 400, HopLongest: 6400, HopLongLook: 16, MaxHops: 1_000, MaxHopsOnly: 10_000}
}

// responseBytes divides the memory for responses among n open scans.
func (t *Tuning) responseBytes(n int) int {
	return max(minScanBytes, min(scanBytes, t.ResponseBytes/n))
}
