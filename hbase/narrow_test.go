package hbase

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/hql-db/hql/filter"
)

// A scan reads the wanted columns alone while rows have them, and gives the rows without them all the same.
func TestNarrowScan(t *testing.T) {
	defer func(n int) { ProbeRows = n }(ProbeRows)
	ProbeRows = 4
	both(t, func(t *testing.T, c Client) {
		for _, lacking := range [][]int{{}, {13}, {0}, {59}, {20, 21, 22}, {7, 31, 32, 55}} {
			name := table(t, c, []Family{{Name: "f"}}, "k40")
			var ms []Mutation
			for i := range 60 {
				cells := []string{"f:a=1", "f:d=2", "f:z=3"}
				if slices.Contains(lacking, i) {
					cells = slices.Delete(cells, 1, 2)
				}
				ms = append(ms, put(fmt.Sprintf("k%02d", i), 1, cells...))
			}
			if err := c.Mutate(within(t), name, ms); err != nil {
				t.Fatal(err)
			}
			for _, encoded := range []bool{false, true} {
				tape := &rpcTape{}
				ctx := WithRPCTracer(within(t), tape)
				o := &ReadOptions{Families: []string{"f"}, Filter: filter.Columns{{Family: "f", Qualifier: "d"}}, Encoded: encoded}
				sc, err := c.Scan(ctx, ScanRange{Table: name, BatchRows: 8}, o)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for {
					rows, err := sc.Next(ctx)
					if err == io.EOF {
						break
					} else if err != nil {
						t.Fatal(err)
					}
					for _, r := range rows {
						r.Cells = decodeCells(r.Cells, r.Encoded)
						has := slices.ContainsFunc(r.Cells, func(c Cell) bool { return string(c.Qualifier) == "d" && string(c.Value) == "2" })
						if string(r.Key) != string(ms[n].Key) || has == slices.Contains(lacking, n) {
							t.Fatalf("%v lack the column: row %d is %s, has it: %v", lacking, n, r.Key, has)
						}
						n++
					}
				}
				if n != len(ms) {
					t.Errorf("%v lack the column: %d rows", lacking, n)
				}
				alone := 0
				for _, x := range tape.calls {
					if x.Scanned != nil {
						alone++
					}
				}
				if alone == 0 {
					t.Errorf("%v lack the column: it is never read alone", lacking)
				}
				if len(lacking) == 0 && len(tape.calls) != 1+5+1+3 {
					t.Errorf("%d calls", len(tape.calls))
				}
			}
		}
	})
}
