package write

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	mathrand "math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/internal/pause"
	"github.com/hql-db/hql/types"
)

// This file handles statements that write the same row at the same time: claims for INSERT ... IF NOT EXISTS, and entries
// of a row when two statements change different columns.

// flushNew writes those of rows that do not exist yet. A drawn row that exists is an error.
func (in *Inserter) flushNew(ctx context.Context, rows []Row) error {
	w := in.Writer
	for _, p := range rows {
		if err := w.Check(p.Values, in.Named(p), true); err != nil {
			return w.Refuse(err, p.Pos)
		}
	}
	in.New = in.New[:0]
	rows, err := w.missing(ctx, rows)
	if err != nil || len(rows) == 0 {
		return err
	}
	w.at(0) // draws a timestamp later than all removals that were read
	drawn := w.env.Rand
	defer func() { w.env.Rand = drawn }()
	claimed := make([]rowID, len(rows))
	for i, p := range rows {
		id, err := w.identity(p.Values)
		if err != nil {
			return w.Refuse(err, p.Pos)
		}
		h := fnv.New64a()
		h.Write([]byte(id.table + id.key + id.qualifier))
		w.env.Rand = h.Sum64 // statements that claim the same key draw the same salt
		at, err := w.place(w.table.Layouts[0], p.Values)
		if err == nil {
			claimed[i], err = at.id(), w.put(ctx, p.Values, in.Named(p), true, &at, nil)
		}
		if err != nil {
			return w.Refuse(err, p.Pos)
		}
	}
	if err := in.Flush(ctx); err != nil {
		return err
	}
	var taken error
	for i, p := range rows {
		if !w.refused[claimed[i]] {
			in.New = append(in.New, p)
		} else if p.Drawn {
			taken = w.taken(p)
		}
	}
	return cmp.Or(in.finish(ctx, len(rows)), taken)
}

// claimToken returns a random token that marks the claims of one statement.
func claimToken() []byte {
	var b [8]byte
	rand.Read(b[:]) // never fails
	return b[:]
}

// claim moves to the front of puts the cell that every IF NOT EXISTS writes into a row. Only one statement finds this cell
// absent. It is the packed cell, the cell of the table's marker, or a marker with the statement's token.
func (w *Writer) claim(puts []hbase.Cell, at place) []hbase.Cell {
	if at.qualifier != nil {
		i := slices.IndexFunc(puts, func(c hbase.Cell) bool { return bytes.Equal(c.Qualifier, at.qualifier) })
		puts[0], puts[i] = puts[i], puts[0]
		return puts
	}
	if w.claimIn == nil {
		w.claimIn = w.sharedFamilies()
	}
	mark := w.markerIn(w.claimIn)
	if w.table.Marker == "" {
		mark.Value = w.token
	}
	puts = slices.DeleteFunc(puts, func(c hbase.Cell) bool {
		return bytes.Equal(c.Qualifier, mark.Qualifier) && bytes.Equal(c.Family, mark.Family)
	})
	return append([]hbase.Cell{mark}, puts...)
}

// sharedFamilies returns the families of the table that other definitions of the same HBase table have too, so that
// statements of all definitions claim a row by the same cell. A definition without a common family has rows of its own.
func (w *Writer) sharedFamilies() []string {
	families := w.table.RowFamilies()
	stored, _ := w.table.Layouts[0].Stored.Prefix()
	for _, o := range w.st.Catalog.Tables() {
		if other, _ := o.Layouts[0].Stored.Prefix(); other != stored {
			continue
		}
		of := o.RowFamilies()
		both := slices.DeleteFunc(slices.Clone(families), func(f string) bool { return !slices.Contains(of, f) })
		if len(both) > 0 {
			families = both
		}
	}
	return families
}

// sendNew works like send for new rows of the primary layout: a row is stored only if no other IF NOT EXISTS has
// claimed it.
func (w *Writer) sendNew(ctx context.Context, _ int, of []tableMutations, _ bool, when string) error {
	w.st.Clock.await(w.after)
	m := &of[0]
	for _, name := range m.names {
		if err := w.ensureTable(ctx, w.table.Layouts[0], name); err != nil {
			return err
		}
		err := w.claimAll(ctx, name, m.by[name])
		if errors.Is(err, ErrReadOnly) {
			return ErrReadOnly
		}
		if err != nil {
			return writeFailed(name, when, err)
		}
	}
	*m = tableMutations{}
	return nil
}

// claimAll sends conditional Puts, several in parallel, until one fails.
func (w *Writer) claimAll(ctx context.Context, table string, ms []hbase.Mutation) error {
	stored := make([]bool, len(ms))
	report := &hbase.BatchError{Failed: map[int]error{}, Keys: make([][]byte, len(ms))}
	var mu sync.Mutex // of report
	var puts errgroup.Group
	puts.SetLimit(cap(w.st.Slots))
	for i := range ms {
		report.Keys[i] = ms[i].Key
		puts.Go(func() (err error) {
			mu.Lock()
			defer mu.Unlock()
			if report.Cause != nil {
				report.Failed[i] = errors.New("not sent: another row of the batch has failed")
				return nil
			}
			mu.Unlock()
			stored[i], err = w.st.Client.PutIf(ctx, table, nil, ms[i])
			mu.Lock()
			if err != nil {
				report.Unknown, report.Cause = append(report.Unknown, i), err
			}
			return nil
		})
	}
	_ = puts.Wait()
	if report.Cause == nil {
		report.Unknown, report.Cause = w.seeClaims(ctx, table, ms, stored)
	}
	if report.Cause != nil {
		return report
	}
	return nil
}

// seeClaims reads the rows that ms claim, to find out which claims succeeded. The statement may own a row although its
// claim was refused, because the answer to the first attempt was lost. unknown are the indexes of rows that were stored
// and cannot be read, because a deletion with a later timestamp hides them; cause is the error to report. If the read
// fails, unknown has all indexes.
func (w *Writer) seeClaims(ctx context.Context, table string, ms []hbase.Mutation, stored []bool) (unknown []int, cause error) {
	all := make([]int, len(ms))
	keys := make([][]byte, len(ms))
	for i := range ms {
		all[i], keys[i] = i, ms[i].Key
	}
	rows, err := w.st.Client.Get(ctx, table, keys, &hbase.ReadOptions{})
	if err != nil {
		return all, err
	}
	for i := range ms {
		mine := &ms[i].Cells[0]
		seen := false
		for _, c := range rows[i].Cells {
			if bytes.Equal(c.Family, mine.Family) && bytes.Equal(c.Qualifier, mine.Qualifier) {
				seen = bytes.Equal(c.Value, mine.Value) || !bytes.Equal(mine.Value, w.token) && c.Timestamp >= ms[i].Timestamp
				stored[i] = stored[i] || bytes.Equal(c.Value, w.token)
			}
		}
		switch {
		case !stored[i]:
			w.refused[w.claimed(table, &ms[i])] = true
		case !seen:
			unknown = append(unknown, i)
			cause = fmt.Errorf("a row was deleted while it was inserted, or earlier by a client whose clock is ahead: repeat the statement")
		}
	}
	return unknown, cause
}

// claimed returns the identity of the row that the claim m is for.
func (w *Writer) claimed(table string, m *hbase.Mutation) rowID {
	id := rowID{table: table, key: string(m.Key)}
	if w.table.Layouts[0].Packed != nil {
		id.qualifier = string(m.Cells[0].Qualifier)
	}
	return id
}

// writtenRow is a row with the timestamp with which it was written.
type writtenRow struct {
	row     []types.Value
	ts      int64
	claimed rowID
	entries bool // only its entries were written, not the row
}

// hasJointEntries reports whether an entry depends on several columns that UPDATE can change. If two statements change
// different columns at the same time, neither writes the entry for both new values. A copy depends on all columns: if
// two statements write a row in the same millisecond, the row may have the values of one, and the copy those of the
// other.
func (w *Writer) hasJointEntries() bool {
	primary := w.table.Layouts[0]
	for _, l := range w.table.Layouts[1:] {
		n := 0
		if l.Kind == catalog.Copy {
			return true
		}
		for c := range w.table.Columns {
			if l.PartOf(c) != nil && primary.PartOf(c) == nil {
				n++
			}
		}
		if n > 1 {
			return true
		}
	}
	return false
}

// maxPause bounds the time that a statement waits before it reads rows again that others change.
const maxPause = 50 * time.Millisecond

// Pause waits for a random part of a millisecond in round 0, and of twice the time of the previous round in later ones, up
// to maxPause. It returns the error of ctx if that ends first.
func Pause(ctx context.Context, round int) error {
	return pause.For(ctx, mathrand.N(min(maxPause, time.Millisecond<<min(round, 10))))
}

// maxCompletions bounds the number of times that complete reads rows that other statements keep changing.
const maxCompletions = 20

// entryPatience is the time for which other statements do not remove an entry without a row, counted from the timestamp of
// the entry. A statement that takes longer to write its rows checks whether the entries still exist.
const entryPatience = time.Second

// complete reads the rows that were written, and adds their missing entries. If several statements changed a row at the
// same time, the last statement to read it sees the result of all. took is the time since the timestamp was drawn; from
// entryPatience on, other statements may have removed entries, and complete checks all of them. complete also removes
// the entries that were written for refused rows.
func (w *Writer) complete(ctx context.Context, took time.Duration) error {
	rows := append(w.written, w.unsettled...)
	w.written, w.unsettled = nil, nil
	for i := range rows {
		rows[i].entries = rows[i].entries || w.refused[rows[i].claimed]
	}
	slow := w.filling || took >= entryPatience
	if !w.jointEntries && !slow {
		rows = slices.DeleteFunc(rows, func(r writtenRow) bool { return !r.entries })
	}
	for round := range maxCompletions {
		if len(rows) == 0 {
			return nil
		}
		if round > 0 {
			if err := Pause(ctx, round-1); err != nil {
				return err
			}
		}
		lacking, err := w.lacking(ctx, rows, slow, round < maxCompletions/2)
		if err != nil {
			return err
		}
		when := "after these rows were changed in " + w.table.Name
		if err := w.send(ctx, 1, w.puts[1:], true, when); err != nil {
			return err
		}
		if err := w.send(ctx, 1, w.removals[1:], false, when); err != nil {
			return err
		}
		rows = lacking
	}
	return fmt.Errorf("%s: other statements change these rows all the time: repeat the statement, or run CHECK TABLE %s REPAIR", w.table.Name, w.table.Name)
}

// lacking adds the mutations that store the missing entries of rows, and returns the rows to be checked again, each once.
// Unless all is set, it assumes that the entries of an INDEX that were written for the row's values exist. If patient is
// set, it leaves an entry of a copy that is later than its row: another statement is about to write that row.
func (w *Writer) lacking(ctx context.Context, rows []writtenRow, all, patient bool) (again []writtenRow, err error) {
	written := make([][]types.Value, len(rows))
	for i, r := range rows {
		written[i] = r.row
	}
	now, err := w.stored(ctx, w.table.Layouts[0], pending(written))
	if err != nil {
		return nil, err
	}
	every := allColumns(w.table)
	places := make([][]place, len(rows))
	next := make([]*writtenRow, len(rows))
	for i, l := range w.table.Layouts {
		var ask []place
		var of []int
		for k, row := range now {
			mine := rows[k]
			if row == nil || !all && l.Kind != catalog.Copy && !mine.entries && w.newest(row) == mine.ts && sameRow(w.table, row, mine.row) {
				continue // the row has the entries that were written
			}
			at, err := w.place(l, row)
			if err != nil {
				return nil, err
			}
			places[k] = append(places[k], at)
			if i > 0 && !at.skip {
				ask, of = append(ask, at), append(of, k)
			}
		}
		newest, err := w.outOfStep(ctx, l, ask, of, now)
		if err != nil {
			return nil, err
		}
		for n, k := range of {
			switch {
			case newest[n] == inStep:
				continue
			case patient && newest[n] > rows[k].ts && w.newest(now[k]) != rows[k].ts:
				if next[k] == nil {
					next[k] = &writtenRow{row: rows[k].row, ts: rows[k].ts}
				}
				continue
			}
			ts := max(w.newest(now[k]), newest[n]+1)
			if newest[n] == 0 { // a removal may be later than the row
				ts = max(ts, w.st.Clock.Next(), rows[k].ts+1)
			}
			if _, err := w.entry(i, now[k], every, ask[n], ts); err != nil {
				return nil, err
			}
			if next[k] != nil {
				ts = max(ts, next[k].ts)
			}
			next[k] = &writtenRow{row: now[k], ts: ts, entries: !w.IfNew}
		}
	}
	for k := range rows {
		if r := rows[k]; r.entries {
			w.takeBack(&r, places[k])
			r.entries = false
			if next[k] == nil {
				next[k] = &r // another statement may have written the same entry
			}
		}
		if next[k] != nil {
			again = append(again, *next[k])
		}
	}
	return again, nil
}

// takeBack deletes the entries that the statement wrote for r if the row does not have r's values. now holds the places
// of the row's current entries; nil: there is no row. An entry that the row has, too, stays. The next writer of the row
// may be unable to delete this entry, because the entry is later than the row, so the row is checked again.
func (w *Writer) takeBack(r *writtenRow, now []place) {
	if now == nil {
		now = make([]place, len(w.table.Layouts))
		for i := range now {
			now[i].skip = true
		}
	}
	if w.deleteStaleEntries(r.row, now, r.ts+1) {
		w.unsettled = append(w.unsettled, *r)
	}
}

// inStep is the result of outOfStep for an entry that matches its row.
const inStep = -1

// outOfStep compares entries of layout l with their rows: now[of[n]] is the row of the entry at at[n]. For each entry
// it returns inStep, 0 if there is no entry, or the time of the newest cell of an entry that differs from its row.
func (w *Writer) outOfStep(ctx context.Context, l *catalog.Layout, at []place, of []int, now [][]types.Value) ([]int64, error) {
	out := make([]int64, len(at))
	if l.Kind == catalog.Index {
		found, err := w.exist(ctx, at)
		for n, ok := range found {
			if ok {
				out[n] = inStep
			}
		}
		return out, err
	}
	rows := make([][]types.Value, len(at))
	for n, k := range of {
		rows[n] = now[k]
	}
	have, err := w.stored(ctx, l, pending(rows))
	for n, row := range have {
		switch {
		case row == nil:
		case w.alike(l, row, rows[n]):
			out[n] = inStep
		default:
			out[n] = w.newest(row)
		}
	}
	return out, err
}
