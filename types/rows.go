package types

import "github.com/hql-db/hql/internal/keyset"

// Rows holds rows of values by column. A number, a date or a time takes 9 bytes, and the garbage collector does not look
// at it; NULLs behind the last value of a column take no memory. The zero Rows is empty.
type Rows struct {
	n       int
	columns []column
}

// column holds the first values of a column; the others are NULL.
type column struct {
	types   []Type
	numbers []int64
	vals    []Value // in place of types and numbers, if a value is more than a number
}

// Reset removes all rows. r keeps memory for as many numbers.
func (r *Rows) Reset() {
	for i := range r.columns {
		c := &r.columns[i]
		clear(c.types) // the values between two that are set are NULL
		*c = column{types: c.types[:0], numbers: c.numbers[:0]}
	}
	r.n = 0
}

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// Add adds a row and returns the bytes that it takes, about. r keeps the texts of its values, but not row.
func (r *Rows) Add(row []Value) (size int64) {
	for len(r.columns) < len(row) {
		r.columns = append(r.columns, column{})
	}
	for i := range row {
		if v := &row[i]; v.typ != Null {
			size += r.columns[i].set(r.n, v)
		}
	}
	r.n++
	return size
}

// set sets the value at index i, which is behind all others, and returns the bytes by which c grows, about.
func (c *column) set(i int, v *Value) (size int64) {
	if c.vals == nil && (v.s != "" || v.d != nil || v.months != 0 || v.typ == Duration) {
		vals := make([]Value, len(c.numbers))
		for k := range vals {
			c.get(k, &vals[k])
		}
		size = 39 * int64(len(vals))
		*c = column{vals: append(vals, Value{})[:len(vals)]}
	}
	n := i + 1 - max(len(c.types), len(c.vals)) // with the NULLs since the last value
	if c.vals == nil {
		c.types = append(keyset.Grown(c.types, n)[:i], v.typ)
		c.numbers = append(keyset.Grown(c.numbers, n)[:i], v.i)
		return 9 * int64(n)
	}
	if c.vals = append(keyset.Grown(c.vals, n)[:i], *v); v.d != nil {
		size += 64
	}
	return size + 48*int64(n) + int64(len(v.s))
}

// get sets v, which is NULL, to the value at index i.
func (c *column) get(i int, v *Value) {
	if i < len(c.vals) {
		*v = c.vals[i]
	} else if i < len(c.numbers) && c.types[i] != Null {
		v.SetInt(c.types[i], c.numbers[i])
	}
}

// Get sets row, whose values are NULL, to the row with number i. row may be wider.
func (r *Rows) Get(i int, row []Value) {
	for k := range min(len(row), len(r.columns)) {
		r.columns[k].get(i, &row[k])
	}
}
