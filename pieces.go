package hql

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/gob"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hql-db/hql/exec"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// Partial is the way in which a column of a piece's rows contributes to the statement's result. Fields ([plan.Partial]):
//
//	Merge  plan.Merge // the aggregate that merges the values of all pieces
//	Result int        // index of the result's column; -1 for a group that the statement does not return
//	Name   string     // of the result's column
//	Type   types.Type // of the result's column, to which the merged value is cast
//	Count  bool       // the previous column is divided by this one, after both are merged (AVG)
type Partial = plan.Partial

// Piece is a part of a query that can be run by itself, elsewhere and later: see DB.Pieces.
type Piece struct {
	// Text is the argument of DB.Piece: it holds everything that a worker needs. Its form is private.
	Text string
	// Rows and Bytes estimate, by statistics, what the region servers will send; -1: unknown.
	Rows, Bytes int64
	// Server is the host:port that serves most of the piece; "" if unknown.
	Server string
}

// Pieces is a query cut into pieces.
type Pieces struct {
	Pieces []Piece // at least one
	// Columns are the columns of a piece's rows. If the query groups, Partial says how to merge the rows of all pieces into
	// the query's rows.
	Columns  []ColumnType
	Warnings []string
}

// Pieces cuts a query into pieces of about one region each, to be run by DB.Piece in many processes. All pieces together
// return the rows of the query. A piece is a range of keys, so regions may move or split in between. A piece reads the rows
// as they are when it runs; NOW() is the time of the cut.
//
// A query that groups with COUNT, SUM, AVG, MIN, MAX, BOOL_AND or BOOL_OR is cut into pieces that group their own rows.
// Partial of their columns says how to merge the groups. Pieces refuses clauses that concern all rows at once with ErrUncut,
// and names the clause: ORDER BY, LIMIT, DISTINCT, window functions, and joins that do not look rows up by key.
//
// Pieces applies the full-scan guard to the whole query, and the scan limit as far as statistics can estimate the query. A
// piece has the limits of the DB that runs it.
func (db *DB) Pieces(ctx context.Context, sql string, args ...any) (*Pieces, error) {
	if err := db.open(); err != nil {
		return nil, err
	}
	parsed, _, err := db.parse(sql)
	if err != nil {
		return nil, err
	}
	s, ok := parsed.(*parser.Select)
	if !ok {
		return nil, parser.Errorf(parsed.Position(), "only a SELECT is cut into pieces").Of(ErrUncut).In(sql)
	}
	text, used := pieceText{SQL: sql}, findParams(s)
	bound, lists, err := bind(used, args)
	if err != nil {
		return nil, located(err, sql)
	}
	text.keep(bound, lists)
	used.expand(&bound, lists)
	bound.Session = db.session
	cut, err := db.engine.Cut(ctx, s, bound)
	if err != nil {
		return nil, located(err, sql)
	}
	text.Zone = cut.Location.String()
	known, err := types.Zone(text.Zone)
	if err == nil && !sameClocks(known, cut.Location) {
		err = fmt.Errorf("the local zone differs from the zone %q of the time zone database", text.Zone)
	}
	if err != nil {
		return nil, fmt.Errorf("a statement is cut into pieces only in a time zone that has a name on other machines, too: %w", err)
	}
	out := &Pieces{Columns: columnTypes(cut.Columns), Warnings: cut.Warnings}
	for _, c := range cut.Pieces {
		p := Piece{Rows: -1, Bytes: -1, Server: c.Server}
		if e := c.Estimate; e != nil {
			p.Rows, p.Bytes = int64(e.Rows), int64(e.Bytes)
		}
		if p.Text, err = text.of(c.Piece); err != nil {
			return nil, err
		}
		out.Pieces = append(out.Pieces, p)
	}
	return out, nil
}

// sameClocks reports whether a and b have the same offset at the start of each month from 1800 to 2099. Equal names do not
// suffice, since a program may create a location with any name.
func sameClocks(a, b *time.Location) bool {
	if a == b {
		return true
	}
	for month := range 12 * 300 {
		t := time.Date(1800, time.Month(1+month), 1, 0, 0, 0, 0, time.UTC)
		_, x := t.In(a).Zone()
		if _, y := t.In(b).Zone(); x != y {
			return false
		}
	}
	return true
}

// Piece runs a piece that DB.Pieces returned, of this DB or of another one on the same store. If the definitions of its tables
// differ, Piece fails with ErrPieceChanged. It also fails if this DB plans a join of the query differently, as another version
// of hql may.
func (db *DB) Piece(ctx context.Context, piece string, options ...QueryOptions) (*Rows, error) {
	text, err := readPiece(piece)
	if err != nil {
		return nil, err
	}
	args, err := text.args()
	if err != nil {
		return nil, err
	}
	loc, err := types.Zone(text.Zone)
	if err != nil {
		return nil, err
	}
	var o QueryOptions
	if len(options) > 0 {
		o = options[0]
	}
	o.Location = loc
	parsed, err := parser.ParseStatement(text.SQL)
	if err != nil {
		return nil, err
	}
	if _, ok := parsed.(*parser.Select); !ok {
		return nil, errNoPiece
	}
	return db.parsed(parsed, text.SQL).runPiece(ctx, append([]any{o}, args...), &text.Piece)
}

// errNoPiece is the error for a text that is not a complete piece.
var errNoPiece = errors.New("this is not a piece of a statement, or the piece is cut short: pass on its text unchanged")

// pieceVersion is the version of the texts of pieces. It increases when an older hql would misread a new text.
const pieceVersion = "4"

// pieceText is the content of a piece's text.
type pieceText struct {
	SQL   string
	Args  []pieceArg
	Named map[string]pieceArg
	Zone  string
	Piece exec.Piece
}

// pieceArg is an argument of the statement: one value or, for an IN list, several, encoded by types.Value.AppendBinary.
type pieceArg struct {
	Values [][]byte
	List   bool
}

// keep stores the arguments of the statement; lists are those that are slices, as bind returns them.
func (t *pieceText) keep(bound exec.Args, lists map[string][]types.Value) {
	stored := func(v types.Value, key string) pieceArg {
		list, isList := lists[key]
		if !isList {
			list = []types.Value{v}
		}
		out := pieceArg{List: isList}
		for _, v := range list {
			out.Values = append(out.Values, v.AppendBinary(nil))
		}
		return out
	}
	for i, v := range bound.Positional {
		t.Args = append(t.Args, stored(v, strconv.Itoa(i+1)))
	}
	for name, v := range bound.Named {
		if t.Named == nil {
			t.Named = map[string]pieceArg{}
		}
		t.Named[name] = stored(v, "@"+name)
	}
}

// args returns the stored arguments.
func (t *pieceText) args() ([]any, error) {
	give := func(a pieceArg) (any, error) {
		values := []types.Value{}
		for _, b := range a.Values {
			v, rest, err := types.DecodeBinary(b)
			if err != nil || len(rest) > 0 {
				return nil, errNoPiece
			}
			values = append(values, v)
		}
		if a.List {
			return values, nil
		}
		if len(values) != 1 {
			return nil, errNoPiece
		}
		return values[0], nil
	}
	var out []any
	for _, a := range t.Args {
		v, err := give(a)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if t.Named == nil {
		return out, nil
	}
	named := NamedArgs{}
	for name, a := range t.Named {
		v, err := give(a)
		if err != nil {
			return nil, err
		}
		named[name] = v
	}
	return []any{named}, nil
}

// of encodes one piece: the version, a checksum of the rest, and the rest.
func (t pieceText) of(p exec.Piece) (string, error) {
	t.Piece = p
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&t); err != nil { // JSON cannot hold texts that are not UTF-8
		return "", err
	}
	sum := sha256.Sum256(b.Bytes())
	return "hql" + pieceVersion + "-" + base64.RawURLEncoding.EncodeToString(append(sum[:checked], b.Bytes()...)), nil
}

// checked is the number of bytes of the checksum.
const checked = 12

var pieceForm = regexp.MustCompile(`^hql([0-9]+)-([-_A-Za-z0-9]+)$`)

// readPiece decodes a text that pieceText.of has encoded.
func readPiece(text string) (*pieceText, error) {
	m := pieceForm.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return nil, errNoPiece
	}
	if m[1] != pieceVersion {
		return nil, fmt.Errorf("the piece is of version %s, and this hql reads version %s: run the piece with the hql that cut it", m[1], pieceVersion)
	}
	b, err := base64.RawURLEncoding.DecodeString(m[2])
	if err != nil || len(b) < checked {
		return nil, errNoPiece
	}
	if sum := sha256.Sum256(b[checked:]); string(sum[:checked]) != string(b[:checked]) {
		return nil, errNoPiece
	}
	var t pieceText
	if err := gob.NewDecoder(bytes.NewReader(b[checked:])).Decode(&t); err != nil {
		return nil, errNoPiece
	}
	return &t, nil
}
