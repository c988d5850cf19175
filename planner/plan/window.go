package plan

import (
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

// Window computes window functions. Its input comes sorted by PartitionBy, then by OrderBy. Output rows: the
// input's values, then one of each call.
type Window struct {
	Input       Node
	PartitionBy []expr.Expr
	OrderBy     []SortTerm
	Calls       []WindowCall
}

// WindowCall is a window function or an aggregate, with its arguments and the rows of the partition that it is computed of.
type WindowCall struct {
	AggCall
	Frame Frame
}

// FrameMode says in what a Frame's bounds count.
type FrameMode uint8

// The modes: values of the order, rows, groups of peers.
const (
	RangeFrame FrameMode = iota
	RowsFrame
	GroupsFrame
)

// BoundKind is a kind of FrameBound, in their order.
type BoundKind uint8

// The kinds.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Frame is the rows from Start to End.
type Frame struct {
	Mode       FrameMode
	Start, End FrameBound
}

// FrameBound is an end of a Frame.
type FrameBound struct {
	Kind BoundKind
	// By is how far from the row an end of kind Preceding or Following lies: rows or groups of peers; in a RangeFrame a number of
	// the order's type, milliseconds of a TIME.
	By types.Value
	// Moved, where set, is the moment at which an end of a RangeFrame lies, over a row of one value, that in the order.
	Moved expr.Expr
}

// Width is the number of values in an output row.
func (w *Window) Width() int { return w.Input.Width() + len(w.Calls) }

// Inputs gives the node below.
func (w *Window) Inputs() []Node { return []Node{w.Input} }

func (*Window) node() {}

// DistinctOn keeps the first row of those that follow one another with the same values of By.
type DistinctOn struct {
	Input Node
	By    []expr.Expr
}

// Width is the number of values in an output row.
func (d *DistinctOn) Width() int { return d.Input.Width() }

// Inputs gives the node below.
func (d *DistinctOn) Inputs() []Node { return []Node{d.Input} }

func (*DistinctOn) node() {}
