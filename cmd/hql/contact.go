package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/hbase"
	"github.com/hql-db/hql/infer"
	"github.com/hql-db/hql/types"
)

// This file serves the first contact with a store: it lists the tables without a definition, and proposes definitions.

// askTimeout bounds how long a hint is looked for.
const askTimeout = 5 * time.Second

// mostNamed is how many tables a note names.
const mostNamed = 20

// undescribed returns the sorted names of the store's tables that have no definition.
func (s *session) undescribed(ctx context.Context) ([]string, error) {
	names, err := s.db.Client().PermittedTables(ctx)
	if err != nil {
		return nil, err
	}
	s.unnamed = slices.DeleteFunc(names, func(name string) bool {
		return catalog.IsOwn(name) || s.described(name)
	})
	return slices.Clone(s.unnamed), nil
}

// described reports whether the HBase table name has a definition.
func (s *session) described(name string) bool {
	for _, t := range s.db.Tables() {
		for _, l := range t.Layouts {
			if l.Stored.Fits(name) {
				return true
			}
		}
	}
	return false
}

// tables is \dt. With a pattern it lists the tables whose names match.
func (s *session) tables(ctx context.Context, pattern string) error {
	defer func(auto bool) { s.auto, s.cut = auto, false }(s.auto)
	s.auto, s.cut = false, true // a list of names is never shown one column a line
	fits := func(string) bool { return true }
	if pattern == "" {
		if err := s.execute(ctx, "SHOW TABLES"); err != nil {
			return err
		}
	} else {
		args, err := words(pattern)
		if err != nil {
			return err
		}
		fits = func(name string) bool {
			return matches(inPublic(args[0]), name)
		}
		list := func(s *session, ctx context.Context, _ string) error { return s.tablesThat(ctx, fits) }
		if err := paged(list)(s, ctx, ""); err != nil {
			return err
		}
	}
	names, err := s.undescribed(ctx)
	if err != nil {
		return err
	}
	s.noteUndescribed(slices.DeleteFunc(names, func(name string) bool { return !fits(name) }))
	return nil
}

// matches reports whether name matches a pattern with * and ?, whatever the case.
func matches(pattern, name string) bool {
	ok, err := path.Match(strings.ToLower(pattern), strings.ToLower(name))
	return ok && err == nil
}

// inPublic drops a schema that has all tables from the front of a name or a pattern: public.t, *.t.
func inPublic(name string) string {
	if schema, table, ok := strings.Cut(name, "."); ok && (schema == "*" || strings.EqualFold(schema, "public")) {
		return table
	}
	return name
}

// tablesThat lists the tables whose names fit.
func (s *session) tablesThat(ctx context.Context, fits func(name string) bool) error {
	rows, err := s.db.Query(ctx, "SHOW TABLES")
	if err != nil {
		return err
	}
	defer rows.Close()
	cols := rows.ColumnTypes()
	ts := make([]types.Type, len(cols))
	for i, c := range cols {
		ts[i] = c.Type
	}
	var tables [][]types.Value
	for rows.Next() {
		if fits(rows.Raw()[0].Text()) {
			tables = append(tables, slices.Clone(rows.Raw()))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return s.grid(rows.Columns(), ts, tables)
}

// views is \dv.
func (s *session) views() error {
	views := s.db.Views()
	for _, v := range views {
		fmt.Fprintln(s.stdout, printable(v.Def.String())+";")
	}
	if len(views) == 0 {
		fmt.Fprintln(s.stdout, "no views: CREATE VIEW name AS SELECT ... makes one")
	}
	return nil
}

func (s *session) noteUndescribed(names []string) {
	if len(names) == 0 {
		return
	}
	shown := strings.Join(names[:min(len(names), mostNamed)], ", ")
	if more := len(names) - mostNamed; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	fmt.Fprintf(s.stderr, "note: HBase tables without a definition: %s (\\infer TABLE proposes one)\n", printable(shown))
}

// greet prints at the start of a prompt which tables there are: the sample tables, or HBase tables without a definition.
func (s *session) greet(ctx context.Context) {
	if s.conf.demo {
		fmt.Fprint(s.stdout, greeting)
		return
	}
	if len(s.db.Tables()) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if names, err := s.undescribed(ctx); err == nil {
		s.noteUndescribed(names)
	}
}

// greeting is the text with which --demo begins; docs/tutorial.md continues it.
const greeting = `Sample tables are here. To begin with:
  \dt
  SELECT name, category FROM files WHERE user_id = 1 AND create_time >= DATE '2012-09-08';
  EXPLAIN SELECT * FROM sites WHERE domain LIKE '%.hbase.org';
`

// withHint adds a hint to the error about an unknown table, if the store has an HBase table with this name.
func (s *session) withHint(ctx context.Context, err error) error {
	var pe *hql.Error
	if !errors.As(err, &pe) || !errors.Is(err, hql.ErrUnknownTable) || pe.Hint != "" {
		return err
	}
	var name string
	if _, serr := fmt.Sscanf(pe.Msg, "unknown table %q", &name); serr != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if names, uerr := s.undescribed(ctx); uerr != nil || !slices.Contains(names, name) {
		return err
	}
	hinted := *pe
	hinted.Hint = fmt.Sprintf("the HBase table %s has no definition: \\infer %[1]s proposes one", name)
	return &hinted
}

// infer runs \infer TABLE [FILE]: it proposes definitions for an HBase table from its keys. The best proposal becomes the
// statement that \g runs and \e edits, or is appended to a file for --catalog.
func (s *session) infer(ctx context.Context, args []string) error {
	if len(args) == 0 || len(args) > 2 {
		return errors.New("\\infer takes an HBase table and perhaps a catalog file")
	}
	proposals, err := propose(ctx, s.db, args[0], inferredFrom, proposed, s.stdout, s.stderr)
	if err != nil || len(proposals) == 0 {
		return err
	}
	if len(args) == 1 {
		s.last = proposals[0].Table.SQL() // not s.query: the end of a script would run that
		fmt.Fprintln(s.stderr, "note: \\g adopts the first, \\e edits it, \\infer TABLE FILE writes it to a catalog file")
		return nil
	}
	f, err := os.OpenFile(home(args[1]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.WriteString(f, proposals[0].String())
	err = cmp.Or(err, f.Close())
	if err == nil {
		fmt.Fprintf(s.stderr, "note: the first definition was added to the end of %s, for --catalog %[1]s\n", printable(args[1]))
	}
	return err
}

// The defaults of hql infer and \infer: rows to read, definitions to propose.
const (
	inferredFrom = 1000
	proposed     = 3
)

// propose prints definitions for an HBase table, inferred from a sample of its rows: at most most, the best first, the
// others as comments. If errw is a terminal, it shows the progress of the sample.
func propose(ctx context.Context, db *hql.DB, table string, sample, most int, w, errw io.Writer) ([]*infer.Proposal, error) {
	var progress func(reads, most int)
	if isTerminal(errw) {
		began := time.Now()
		progress = func(reads, most int) {
			if time.Since(began) > progressAfter {
				fmt.Fprintf(errw, "\r\x1b[K%d of %d short reads", reads, most)
			}
		}
		defer fmt.Fprint(errw, "\r\x1b[K")
	}
	sampled, err := infer.Sample(ctx, db.Client(), table, sample, progress)
	if errors.Is(err, hbase.ErrNoTable) {
		return nil, fmt.Errorf("%w: %s%s", hbase.ErrNoTable, table, storedAs(db, table))
	}
	if err != nil {
		return nil, err
	}
	proposals, err := infer.Propose(table, sampled, most)
	if err == nil {
		fmt.Fprint(w, infer.Text(proposals))
	}
	return proposals, err
}
