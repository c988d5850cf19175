package plan

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Window computes window functions. Its input is sorted by PartitionBy, then by OrderBy. Its rows have the input's values,
// then the value of each call.
type Window struct {
	Input       Node
	PartitionBy []expr.Expr
	OrderBy     []SortTerm
	Calls       []WindowCall
}

// WindowCall is a call of a window function or an aggregate, with the frame of rows over which it is computed.
type WindowCall struct {
	AggCall
	Frame Frame
}

// FrameMode is the unit in which a Frame's bounds count.
type FrameMode uint8

// The modes: values of the order, rows, or groups of peers.
const (
	RangeFrame FrameMode = iota
	RowsFrame
	GroupsFrame
)

// BoundKind is the kind of a FrameBound.
type BoundKind uint8

// The kinds, from the first to the last row.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Frame selects the rows of a partition from Start to End.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
	Exclude    string // rows that are left out: CURRENT ROW; GROUP, it and its peers; TIES, its peers
}

// FrameBound is one end of a Frame.
type FrameBound struct {
	Kind BoundKind
	// By is the distance from the current row for the kinds Preceding and Following: a number of rows or of groups of
	// peers. In a RangeFrame it has the order's type; for a TIME it is in milliseconds.
	By types.Value
	// Moved, if set, is the end of a RangeFrame as an expression. Its only column is the current row's value of the
	// ORDER BY term.
	Moved expr.Expr
}

func (w *Window) Width() int { return w.Input.Width() + len(w.Calls) }

func (w *Window) Inputs() []Node { return []Node{w.Input} }

func (*Window) node() {}

// DistinctOn keeps the first row of each run of consecutive rows with equal values of By.
type DistinctOn struct {
	Input Node
	By    []expr.Expr
}

func (d *DistinctOn) Width() int { return d.Input.Width() }

func (d *DistinctOn) Inputs() []Node { return []Node{d.Input} }

func (*DistinctOn) node() {}
