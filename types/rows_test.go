package types

import (
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/apd/v3"
)

// TestRows compares Rows with a list of rows, whose columns hold numbers, texts, both, and many NULLs.
func TestRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	interval, _ := NewDuration(0, 3, 5)
	kinds := [][]Value{
		{NewInt(7)},
		{NewIntOf(Int, -1), NewDouble(0.5), {}},
		{NewString(""), NewString("text"), {}, {}},
		{NewDate(3), {}, {}, {}, {}, NewDecimal(apd.New(15, -1))},
		{NewBool(true), interval, {}},
		{{}},
	}
	var r Rows
	for range 50 {
		r.Reset()
		var want [][]Value
		told, held := int64(0), int64(0)
		late := rng.IntN(len(kinds)) // this column has no value before row 100
		for i := range 200 {
			row := make([]Value, rng.IntN(len(kinds)+1))
			for k := range row {
				if k != late || i >= 100 {
					row[k] = kinds[k][rng.IntN(len(kinds[k]))]
				}
			}
			size := r.Add(row)
			for k := range row {
				if text := int64(len(row[k].Text())); size < text {
					t.Fatalf("Add(%v) = %d bytes", row, size)
				}
			}
			told += size
			want = append(want, row)
		}
		for _, c := range r.columns {
			held += int64(9*len(c.types) + 48*len(c.vals))
		}
		if told < held {
			t.Fatalf("Add returned %d bytes, the columns take %d", told, held)
		}
		if r.Len() != len(want) {
			t.Fatalf("Len() = %d, want %d", r.Len(), len(want))
		}
		for i := range want {
			got := make([]Value, len(kinds)+1)
			r.Get(i, got)
			for k, v := range got {
				if w := append(want[i], make([]Value, len(got))...)[k]; !v.Identical(w) {
					t.Fatalf("row %d, column %d: %v, want %v", i, k, v, w)
				}
			}
		}
	}
}
