package scan

// Tuning is the size of a scan's requests. Answers do not depend on it; tests use small values, so that small tables
// exercise every path.
type Tuning struct {
	// FirstRows is the size of the first fetch of a reader that may need only few rows.
	FirstRows int
	// OpenScanners is the number of streams up to which a merge keeps scanners open between two fetches. With more
	// streams, for example hundreds of salts, it keeps none.
	OpenScanners int
	// ResponseBytes is the total size of the responses that all open scans of a table access hold.
	ResponseBytes int
	// PieceBytes is the greatest number of bytes that a piece of a statement reads, if statistics show where to cut a
	// region.
	PieceBytes int

	// Parameters for hopping. A hop is a separate call and costs as much as reading a few hundred rows. Each look at the
	// keys therefore reads some rows; if they have many values, the next look is longer. Some looks are long even if hops
	// pay, since a hop does not show how many rows it skipped.

	HopRows     int   // of a short look
	SeekRows    int   // number of rows whose reading costs as much as seeking a range
	HopPays     int   // number of rows with one value from which on a hop past them pays
	HopLongest  int   // of the longest look: if hops do not pay in it, they are given up
	HopLongLook int   // one in so many looks is a long one
	MaxHops     int64 // number of looks of one table access
	MaxHopsOnly int64 // the same if the statement may not read all remaining rows
}

// DefaultTuning returns the tuning of an engine that has none of its own.
func DefaultTuning() Tuning {
	return Tuning{FirstRows: 100, OpenScanners: 64, ResponseBytes: 4 << 20, PieceBytes: 512 << 20, HopRows: 100, SeekRows: 8, HopPays: 400, HopLongest: 6400, HopLongLook: 16, MaxHops: 1_000, MaxHopsOnly: 10_000}
}

// responseBytes returns the size of a response if n scans are open.
func (t *Tuning) responseBytes(n int) int {
	return max(minScanBytes, min(scanBytes, t.ResponseBytes/n))
}
