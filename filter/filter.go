package filter

// Filter is one of the types below.
type Filter interface {
	String() string
	filter()
}

// Op compares a stored value (left) with a constant (right) in unsigned byte order.
type Op uint8

// The comparisons. Prefix holds when the stored bytes start with the constant.
const (
	Equal Op = iota
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	Prefix
)

// And keeps a row that all members keep; Or one that any member keeps.
type (
	And []Filter
	Or  []Filter
)

// Cell compares the newest version of one column with a constant (SingleColumnValueFilter). A row without the column is
// kept only if KeepMissing is set.
type Cell struct {
	Family, Qualifier string
	Op                Op
	Value             []byte
	KeepMissing       bool
}

// CellNull keeps rows without the column (Not false) or with it (Not true).
// It is the SingleColumnValueFilter with a NullComparator: it says nothing about empty values.
type CellNull struct {
	Family, Qualifier string
	Not               bool
}

// Written keeps rows whose cells of a column were written at one of Times; the newest version of each cell counts. A
// row without the column is kept. All means every column of Family.
type Written struct {
	Family, Qualifier string
	All               bool
	Times             []int64
}

// Regex keeps rows whose column matches a Java regular expression that uses
// only quoted literals, anchors, '.' and '.*'; it is compiled with DOTALL.
// The text is matched as ISO-8859-1 or UTF-8 according to UTF8.
type Regex struct {
	Family, Qualifier string
	Pattern           string
	UTF8              bool
}

// KeyRanges keeps rows whose key lies in one of the sorted, disjoint ranges,
// seeking from one to the next (MultiRowRangeFilter).
type KeyRanges []KeyRange

// KeyRange is [Start, Stop); an empty Stop is open.
type KeyRange struct{ Start, Stop []byte }

// Fuzzy keeps rows whose key fits one of several patterns, seeking from one fitting key to the next (FuzzyRowFilter).
// HBase loses rows if a reversed scan uses it.
type Fuzzy []FuzzyKey

// FuzzyKey is a pattern of keys: where Mask is 0, the key's byte equals Key's; where it is 1, any byte fits. Mask has
// at least one 1. A key and a pattern of different lengths are compared up to the shorter one.
type FuzzyKey struct{ Key, Mask []byte }

// KeyRegex keeps rows in whose key a Java regular expression is found, compiled with DOTALL; each byte of the key is a
// character (RowFilter with a RegexStringComparator). BinaryComponentComparator is not an alternative: it reads beyond the
// end of a key that is too short. Text is the form for display.
type KeyRegex struct{ Pattern, Text string }

// OfKeys returns the conditions of f on keys alone: the servers send only rows whose keys match.
func OfKeys(f Filter) (out And) {
	switch f := f.(type) {
	case And:
		for _, x := range f {
			out = append(out, OfKeys(x)...)
		}
	case Fuzzy, KeyRegex:
		out = And{f}
	}
	return out
}

// Sample keeps each row with the probability Share (RandomRowFilter).
type Sample struct{ Share float64 }

// ColumnRange keeps the cells of Family whose qualifier lies in [Min, Max); nil is open (ColumnRangeFilter).
type ColumnRange struct {
	Family   string
	Min, Max []byte
}

// FirstCell keeps only the first cell of each row (FirstKeyOnlyFilter).
type FirstCell struct{}

// KeyOnly empties the value of each cell (KeyOnlyFilter).
type KeyOnly struct{}

// Columns keeps the named columns and, so that a row without any of them is
// still seen, the row's first cell: Or(FirstKeyOnly, these columns).
//
// Without the first cell, servers would work half as long, but no answer could prove that no row was missed, not even
// the count of rows looked at. HBase (StoreScanner.next, 2.0 to 3.0) counts two rows as one in a rare case: a memstore
// is flushed while a scan is in a row that has none of the columns, at the row's last cell, and the flush drops that
// cell because it is deleted or expired.
type Columns []Column

// Column is family:qualifier.
type Column struct{ Family, Qualifier string }

func (And) filter()         {}
func (Or) filter()          {}
func (Cell) filter()        {}
func (CellNull) filter()    {}
func (Written) filter()     {}
func (Regex) filter()       {}
func (KeyRanges) filter()   {}
func (Fuzzy) filter()       {}
func (ColumnRange) filter() {}
func (KeyRegex) filter()    {}
func (Sample) filter()      {}
func (FirstCell) filter()   {}
func (KeyOnly) filter()     {}
func (Columns) filter()     {}
