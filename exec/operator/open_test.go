package operator

import (
	"context"
	"errors"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// closing tells when it is closed.
type closing struct {
	rowSource
	closed bool
	err    error // of Close
}

func (c *closing) Close() error { c.closed = true; return c.err }

// nodesOfInputs are nodes with one input or several.
func nodesOfInputs() map[string]plan.Node {
	scan := func() *plan.Scan { return &plan.Scan{Table: &catalog.Table{}} }
	num := &expr.Column{Index: 0, Name: "n", Typ: types.BigInt}
	by := []expr.Expr{num}
	nodes := spillingNodes(100)
	nodes["joins"] = &plan.Join{Left: &plan.Join{Left: scan(), Right: scan(), LeftKeys: by, RightKeys: by},
		Right: &plan.Join{Left: scan(), Right: scan()}, LeftKeys: by, RightKeys: by}
	nodes["sets"] = &plan.SetOp{Left: &plan.SetOp{Left: scan(), Right: scan()}, Right: &plan.SetOp{Left: scan(), Right: scan(), Except: true}}
	nodes["unions"] = &plan.Union{Parts: []plan.Node{scan(), &plan.Union{Parts: []plan.Node{scan(), scan()}}, scan()}}
	nodes["limit"] = &plan.Limit{Input: &plan.Filter{Input: &plan.Project{Input: scan(), Exprs: by}, Cond: &expr.Const{Val: types.NewBool(true), Typ: types.Boolean}}, Count: plan.AtMost(3)}
	return nodes
}

// An input that does not close is the error of the whole, whichever it is, be it read or not.
func TestInputsClose(t *testing.T) {
	failed := errors.New("does not close")
	for name, n := range nodesOfInputs() {
		for i := range 2 * inputs(n) {
			at, read, opened := i/2, i%2 > 0, 0
			src := func(context.Context, *plan.Scan) (Operator, error) {
				c := &closing{rowSource: rowSource{n: 10}}
				if opened == at {
					c.err = failed
				}
				opened++
				return c, nil
			}
			op, err := New(t.Context(), n, src, Options{})
			if err == nil && read {
				err = Drain(t.Context(), op, func([][]types.Value) error { return nil })
			} else if err == nil {
				err = op.Close()
			}
			if err != failed && opened > at {
				t.Errorf("%s: input %d does not close: %v", name, at, err)
			}
		}
	}
}

// If any input of an operator fails to open, the operator fails with that error and closes the inputs that it has opened.
func TestInputsOpen(t *testing.T) {
	failed := errors.New("does not open")
	for name, n := range nodesOfInputs() {
		for at := range inputs(n) {
			var open []*closing
			src := func(context.Context, *plan.Scan) (Operator, error) {
				if len(open) == at {
					return nil, failed
				}
				open = append(open, &closing{rowSource: rowSource{n: 10}})
				return open[len(open)-1], nil
			}
			op, err := New(t.Context(), n, src, Options{})
			if err == nil {
				err = Drain(t.Context(), op, func([][]types.Value) error { return nil })
				op.Close()
			}
			for i, o := range open {
				if !o.closed {
					t.Errorf("%s: input %d is open after input %d failed", name, i, at)
				}
			}
			if err != failed {
				t.Errorf("%s: input %d does not open: %v", name, at, err)
			}
		}
	}
}

// inputs counts the scans below n.
func inputs(n plan.Node) (sum int) {
	if _, ok := n.(*plan.Scan); ok {
		return 1
	}
	for _, in := range n.Inputs() {
		sum += inputs(in)
	}
	return sum
}
