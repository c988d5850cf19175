package catalog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/internal/fail"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// checkParts checks that the parts of a pattern are unambiguous. Only in a key may one part of varying width be
// followed by fixed-width parts without a delimiter.
func checkParts(parts []*Part, key bool) error {
	fixed := 0
	for i, p := range parts {
		if p.Literal != nil {
			fixed += len(p.Literal)
			continue
		}
		if w := p.Width(); w != Variable {
			fixed += w
			continue
		}
		if p.ends != nil || i+1 == len(parts) {
			continue
		}
		next := parts[i+1]
		if next.Literal == nil {
			if tail, ok := fixedBytes(parts[i+1:]); ok && key {
				p.tail = tail
				continue
			}
			return parser.Errorf(p.Def.Pos, "%s varies in width: it must be last or be followed by a literal", p.Source).
				WithHint("give it a width, %s AS TEXT(n), or put a delimiter such as X'00' after it", p.Def.Expr)
		}
		if alphabet := p.alphabet(); alphabet != "" && strings.IndexByte(alphabet, next.Literal[0]) >= 0 {
			return parser.Errorf(next.Def.Pos, "values of %[2]s can contain %[1]s, so it cannot end them", next.Source, p.Source).
				WithHint("put another delimiter after it, or put it last")
		}
		p.end = next
	}
	if fixed > MaxKeyLength {
		return parser.Errorf(parts[0].Def.Pos, "the parts have %d bytes, more than HBase's %d", fixed, MaxKeyLength)
	}
	return nil
}

// checkNullable checks the parts that may be NULL, and finds those that keys may omit.
func (p *Composite) checkNullable(key bool) error {
	for i, part := range p.Parts {
		if !part.nullable {
			continue
		}
		refuse := func(why string) error {
			return parser.Errorf(part.Def.Pos, "%s cannot be NULLABLE: %s", part.Source, why)
		}
		ended := part.end != nil && len(part.end.Literal) == 1
		switch _, column := part.Column(); {
		case !key:
			return refuse("it is not in a ROW KEY")
		case !column && !isCast(part.Expr):
			return refuse("it is not a plain column")
		case part.EndsKey():
			if slices.ContainsFunc(p.Parts[i:], func(later *Part) bool { return later.Literal != nil || !later.EndsKey() }) {
				return refuse("only parts of fixed width that are NULLABLE, too, may follow it")
			}
		case part.ends != nil || part.tail > 0:
			return refuse("its encoding cannot distinguish NULL from a value")
		case part.inverted() && (!ended || part.end.Literal[0] != 0xff):
			return refuse("X'FF' must end it")
		case !part.inverted() && part.end != nil && (!ended || part.end.Literal[0] != 0):
			return refuse("X'00' must end it, or the end of the key")
		case part.end != nil && !part.inverted() && i+2 == len(p.Parts):
			return refuse("the end of the key ends it, without a delimiter")
		}
	}
	for i := len(p.Parts); i > 0; p.optional = len(p.Parts) - i {
		switch part := p.Parts[i-1]; {
		case part.nullable:
			i--
		case i > 1 && part == p.Parts[i-2].end && p.Parts[i-2].inverted() && p.Parts[i-2].nullable:
			i -= 2
		case i > 1 && i < len(p.Parts) && part == p.Parts[i-2].end && !p.Parts[i-2].inverted() && string(part.Literal) == "\x00":
			i--
		default:
			return nil
		}
	}
	return nil
}

// isCast reports whether e is one or several nested CASTs of a column: e is then NULL exactly if the column is NULL.
func isCast(e expr.Expr) bool {
	c, ok := e.(*expr.Cast)
	if !ok {
		return false
	}
	_, ok = c.X.(*expr.Column)
	return ok || isCast(c.X)
}

// MayLack reports whether keys may end before part i: part i is one of the parts at the end that keys omit if they are
// all NULL, delimiters included.
//
//	ROW KEY (a AS TEXT, X'00', b AS NULLABLE TEXT)     true of parts 1 and 2
func (p *Composite) MayLack(i int) bool { return i >= len(p.Parts)-p.optional }

// MayLackDelimiter reports whether part i is a delimiter that keys omit if all parts after it are NULL.
//
//	ROW KEY (a AS TEXT, X'00', b AS NULLABLE TEXT)     true of part 1
func (p *Composite) MayLackDelimiter(i int) bool {
	literal := p.Parts[i].Literal
	return p.MayLack(i) && literal != nil && literal[0] == 0
}

// Nullable reports whether a part of p holds NULL as well.
func (p *Composite) Nullable() bool {
	return slices.ContainsFunc(p.Parts, func(part *Part) bool { return part.nullable })
}

// checkLiteral checks that a literal part is not empty.
func checkLiteral(p *Part) error {
	if len(p.Literal) == 0 {
		return parser.Errorf(p.Def.Pos, "a literal part must not be empty")
	}
	return nil
}

// fixedBytes returns the number of bytes of parts; ok is false if it varies.
func fixedBytes(parts []*Part) (n int, ok bool) {
	for _, p := range parts {
		w := p.Width()
		if w == Variable {
			return 0, false
		}
		n += w
	}
	return n, true
}

// alphabet returns the bytes that a part can contain, if they are few. A delimiter among them would be ambiguous.
func (p *Part) alphabet() string {
	of := p.uprightAlphabet()
	if !p.inverted() {
		return of
	}
	b := []byte(of)
	invertBytes(b)
	return string(b)
}

func (p *Part) uprightAlphabet() string {
	const digits = "0123456789"
	if e, ok := upright(p.Encoding).(Alphabet); ok {
		return e.Alphabet()
	}
	switch t := p.Encoding.Type(); {
	case t.IsInteger():
		return digits + "-"
	case t == types.Date:
		return digits + "-"
	case t.IsTimestamp(), t == types.Time, t == types.Decimal, t == types.Double, t == types.Float:
		return digits + "-+.:TZe"
	}
	if c, ok := p.Expr.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.HexDigits {
		return digits + "abcdef"
	}
	return ""
}

// withoutDefault returns the parts of a table's name without the namespace default, as HBase spells the name.
func withoutDefault(parts []*Part) []*Part {
	name, ok := bytes.CutPrefix(parts[0].Literal, []byte("default:"))
	if !ok {
		return parts
	}
	if len(name) == 0 && len(parts) > 1 {
		return parts[1:]
	}
	first := *parts[0]
	first.Literal = name
	return append([]*Part{&first}, parts[1:]...)
}

// checkTableName checks the literal parts of a physical table's name.
func checkTableName(p *Composite, pos parser.Pos) {
	if len(p.Parts) == 1 && string(p.Parts[0].Literal) == SystemTable {
		panic(fail.With(parser.Errorf(pos, "the HBase table %s is hql's own: it holds the definitions of tables", SystemTable)))
	}
	if len(p.Parts) == 1 && string(p.Parts[0].Literal) == StatisticsTable {
		panic(fail.With(parser.Errorf(pos, "the HBase table %s is hql's own: it holds statistics of tables", StatisticsTable)))
	}
	for n, part := range p.Parts {
		for i, c := range part.Literal {
			letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == ':'
			if !letter && (c != '.' && c != '-' || n == 0 && i == 0) {
				panic(fail.With(parser.Errorf(pos, "%s is not a name for an HBase table (letters, digits, '_', and, except in front, '-' and '.')", part.Source)))
			}
		}
	}
}

// readable finds for each key column how it is read back, and refuses columns that cannot be, because the keys hold
// only a hash.
func (b *builder) readable() {
	for n, l := range b.t.Layouts {
		l.Key.table = b.t
		users := b.users(l)
		for _, col := range b.t.Columns {
			b.solve(l, n, col, users[col.Index])
		}
		if l.Kind != Primary && !l.leadsTo(b.t.Layouts[0]) {
			panic(fail.With(parser.Errorf(l.Pos, "%s %s cannot lead to its rows: its key does not determine all columns of their ROW KEY", l.Kind, l.Name).
				WithHint("put the columns themselves into it, not expressions over them")))
		}
		for _, c := range b.t.Columns {
			if l.Kind == Index && users[c.Index] != nil && !c.KeyPart && !l.holdsNull(c.Index) {
				l.Sparse = append(l.Sparse, c)
			}
		}
		l.check, l.named = checksNeeded(l)
		l.findNumbered()
		l.comparable()
		l.findDependencies()
	}
	b.packedAlone()
	b.defaultsOutsideCells()
	b.holdTimes()
}

// defaultsOutsideCells makes the DEFAULT of a column that is read from the key a value that INSERT writes: no row is
// without it.
func (b *builder) defaultsOutsideCells() {
	for i, c := range b.def.Columns {
		if col := b.t.Columns[i]; !col.InCell() && !col.Absent().IsNull() {
			col.Default, col.Encoding = c.Encoding.Args[0], col.Encoding.(emptyNull).Encoding
		}
	}
}

// users returns, for each column, the parts of l that are computed from it. It sets l.check to the parts that a reader
// must recompute.
func (b *builder) users(l *Layout) map[int][]partRef {
	users := map[int][]partRef{}
	for from, p := range l.patterns() {
		if p == nil {
			continue
		}
		for i, part := range p.Parts {
			ref := partRef{from, i}
			for _, col := range part.Columns {
				users[col] = append(users[col], ref)
				b.t.Columns[col].inKey = true
			}
			if part.Literal == nil && part.fromRest == nil && (len(part.Columns) > 0 || part.domain != nil) {
				l.check = append(l.check, ref)
			}
		}
	}
	return users
}

// solve finds how col is read back from refs, the parts of l (layout number n) that are made of it.
func (b *builder) solve(l *Layout, n int, col *Column, refs []partRef) {
	if len(refs) == 0 {
		if l.Kind == Primary || !col.KeyPart {
			return
		}
		panic(fail.With(parser.Errorf(l.Pos, "layout %s lacks the key column %s, so that two rows could have one key", l.Name, col.Name)))
	}
	pats := l.patterns()
	s, ok := l.solverFor(col, refs)
	switch {
	case ok:
	case n > 0 && col.KeyPart:
		panic(fail.With(parser.Errorf(l.Pos, "layout %s does not determine the key column %s, so that two rows could have one key", l.Name, col.Name).
			WithHint("add %s itself as a part", col.Name)))
	case col.HasCell || n > 0:
		return // read from its cell
	default:
		panic(fail.With(parser.Errorf(pats[refs[0].from].Parts[refs[0].part].Def.Pos, "column %s cannot be read back from the key", col.Name).
			WithHint("store it in a cell as well: %s %s FROM %s:%s", col.Name, col.Type, col.Family, col.Name)))
	}
	l.solve = append(l.solve, s)
	from := s.joint
	if s.direct {
		from = []partRef{{s.from, s.part}}
	}
	null := slices.IndexFunc(from, func(r partRef) bool { return pats[r.from].Parts[r.part].nullable })
	if l.Kind == Primary {
		col.KeyPart, col.NullKey = true, null >= 0
	}
	if n > 0 && len(from) > 0 && col.KeyPart && (null >= 0) != col.NullKey {
		of := from[max(null, 0)]
		panic(fail.With(parser.Errorf(pats[of.from].Parts[of.part].Def.Pos, "column %s is NULLABLE in one layout but not in another", col.Name)))
	}
}

// holdsNull reports whether all parts of l's key that are made of column col are NULLABLE.
func (l *Layout) holdsNull(col int) bool {
	return !slices.ContainsFunc(l.Key.Parts, func(p *Part) bool { return slices.Contains(p.Columns, col) && !p.nullable })
}

// packedAlone refuses columns that conflict with a packed column, whose HBase rows hold several rows each: columns in
// the packed column's family, where each qualifier is made of its parts, and columns in another cell, which all these
// rows would share.
func (b *builder) packedAlone() {
	for _, packed := range b.t.Columns {
		for _, c := range b.t.Columns {
			switch {
			case packed.Packed == nil || c == packed:
			case !c.KeyPart:
				err := parser.Errorf(c.Pos, "a row of HBase holds several of %s, each in a cell of %s: they would share the one cell of column %s", b.t.Name, packed.Name, c.Name)
				if c.inKey {
					panic(fail.With(err.WithHint("put %s itself into the key or into %s:[...], not only an expression over it", c.Name, packed.Family)))
				}
				panic(fail.With(err.WithHint("define the shared cells as a second table, EXTERNAL and STORED IN the same HBase table, and join the two")))
			case c.HasCell && c.Family == packed.Family:
				panic(fail.With(parser.Errorf(c.Pos, "the cell of column %s would be read as one of those of %s, FROM %s:[...]", c.Name, packed.Name, packed.Family).
					WithHint("it needs another family: %s %s FROM other:%s", c.Name, c.Type, c.Name)))
			}
		}
	}
}

// holdTimes refuses a part that cannot hold all times of a column that the primary layout holds in another part or in a
// cell: for example the month of a moment whose milliseconds are in a cell. A range of moments would then search places
// without rows.
func (b *builder) holdTimes() {
	for _, col := range b.t.Columns {
		if !col.Type.IsTemporal() {
			continue
		}
		row := make([]types.Value, len(b.t.Columns))
		row[col.Index] = sampleValue(col.Type)
		known := false
		if col.InCell() {
			_, err := col.Encoding.Append(nil, row[col.Index])
			known = err == nil
		}
		var coarse *Part
		for n, l := range b.t.Layouts {
			for _, p := range l.patterns() {
				if p == nil {
					continue
				}
				for _, part := range p.Parts {
					if len(part.Columns) != 1 || part.Columns[0] != col.Index || part.fromRest != nil {
						continue
					}
					v, err := part.Expr.Eval(&expr.Env{Row: row})
					if err != nil || v.IsNull() || !v.Type().IsTemporal() {
						continue
					}
					_, isColumn := part.Expr.(*expr.Column)
					if _, err := part.Encoding.Append(nil, v); err == nil {
						known = known || isColumn && n == 0
					} else if coarse == nil {
						coarse = part
					}
				}
			}
		}
		if known && coarse != nil {
			err := parser.Errorf(coarse.Def.Pos, "%s cannot hold every %s that the other ROW KEYs and cells of column %s can", coarse.Source, col.Type, col.Name)
			if e, ok := coarse.Encoding.(Coarse); ok && e.Unit() != "" && coarse.Expr.Type() != types.Time {
				err = err.WithHint("store the start of its unit: DATE_TRUNC('%s', %s) AS %s", e.Unit(), coarse.Def.Expr, coarse.Encoding)
			}
			panic(fail.With(err))
		}
	}
}

// solverFor finds how a column is read from the parts that use it.
func (l *Layout) solverFor(col *Column, refs []partRef) (solver, bool) {
	pats := l.patterns()
	s := solver{col: col.Index}
	for _, ref := range refs {
		p := pats[ref.from].Parts[ref.part]
		if _, ok := p.Expr.(*expr.Column); ok {
			return solver{col: col.Index, from: ref.from, part: ref.part, direct: true, whole: true, source: p.Source}, true
		}
	}
	for _, ref := range refs {
		if _, ok := l.numberOf(col.Index, ref); ok {
			return solver{col: col.Index, byLookup: true, whole: true, source: pats[ref.from].Parts[ref.part].Source}, true
		}
	}
	sample := sampleValue(col.Type)
	set := types.All()
	for range 2 {
		for _, ref := range refs {
			p := pats[ref.from].Parts[ref.part]
			if t := p.Expr.Type(); len(p.Columns) != 1 || t == types.Double || t == types.Float { // several numbers round to one
				continue
			}
			img, ok := p.Image(types.Points(sample))
			if !ok {
				continue
			}
			pre, ok := solve.Preimage(p.Expr, col.Index, img, set)
			if !ok {
				continue
			}
			set = pre
			if s.source == "" {
				s.source = p.Source
			}
			if len(s.joint) < len(refs) {
				s.joint = append(s.joint, ref)
			}
		}
	}
	if len(set) != 1 || set[0].Lo.IsNull() || set[0].Hi.IsNull() {
		return s, false
	}
	// If the key holds less than the value, such as the month of a moment, the value comes from the cell or, in an INDEX
	// or a copy, from the first ROW KEY. The start of the month is the value only if none of them holds more.
	if s.whole = set[0].IsPoint(); !s.whole && l.Kind != Primary {
		return s, slices.ContainsFunc(l.Key.table.Layouts[0].solve, func(p solver) bool { return p.col == col.Index && !p.whole })
	}
	return s, s.whole || col.Type != types.String && !col.HasCell && l.alike(col, refs, sample, set[0].Lo)
}

// alike reports whether refs, the parts of l that are made of col, have equal values if col is a and if col is b. If
// they differ, reading b back from the key of a would lose the difference.
//
//	DATE(ts), HOUR_OF_DAY(ts), 10:20 and 10:00               true
//	DATE(ts), TO_CHAR(ts, 'HH12 AM'), 10:20 and 00:00        false
func (l *Layout) alike(col *Column, refs []partRef, a, b types.Value) bool {
	row := make([]types.Value, len(l.Key.table.Columns))
	return !slices.ContainsFunc(refs, func(ref partRef) bool {
		p := l.patterns()[ref.from].Parts[ref.part]
		if len(p.Columns) != 1 {
			return false
		}
		row[col.Index] = a
		x, err1 := p.Expr.Eval(&expr.Env{Row: row})
		row[col.Index] = b
		y, err2 := p.Expr.Eval(&expr.Env{Row: row})
		return err1 == nil && err2 == nil && string(x.AppendKey(nil)) != string(y.AppendKey(nil))
	})
}

// sampleValue returns a value of type t for tests of a key's expressions.
func sampleValue(t types.Type) types.Value {
	switch t {
	case types.String, types.JSON, types.JSONB:
		return types.NewString(strings.Repeat("sample.", MaxKeyLength/7+1)) // longer than any part that keeps a beginning
	case types.Bytes:
		return types.NewBytes("sample")
	case types.Double, types.Float:
		return types.NewFloatOf(t, 42)
	case types.Decimal:
		v, _ := types.ParseDecimal("42")
		return v
	case types.UUID:
		return types.NewUUID("sample of a UUID")
	case types.Timestamp, types.LocalTimestamp:
		return types.NewIntOf(t, 1_600_018_012_345) // not the start of a unit: 2020-09-13 17:26:52.345
	}
	return types.NewIntOf(t, 42)
}

// comparable refuses a LOOKUP of a name that the key also holds, if the reader cannot compare the number with the name.
// It can compare them only if the number alone gives the name.
func (l *Layout) comparable() {
	for _, ref := range l.check {
		if p := l.patterns()[ref.from].Parts[ref.part]; p.UsesLookup() {
			panic(fail.With(parser.Errorf(p.Def.Pos, "%s cannot be compared with the name elsewhere in the key", p.Source).
				WithHint("use the plain column in LOOKUP, or leave one of the two parts out")))
		}
	}
}

// checksNeeded returns the key parts of l that a reader computes again from the columns that it read, and compares with the
// key. It leaves out parts whose comparison always succeeds, such as a part that is the column itself, and parts that
// cannot be computed. named are the parts that need the names of LOOKUP.
func checksNeeded(l *Layout) (check, named []partRef) {
	own := map[partRef]bool{}
	lookups := map[int]bool{}
	known := map[int]bool{}
	for _, s := range l.solve {
		known[s.col] = true
		if s.direct {
			own[partRef{s.from, s.part}] = true
		}
		if s.byLookup {
			lookups[s.col] = true
		}
	}
	pats := l.patterns()
	for _, ref := range l.check {
		p := pats[ref.from].Parts[ref.part]
		recomputable := !own[ref]
		if c, ok := p.Expr.(*expr.Call); ok && c.Func.Key != nil && c.Func.Key.ManyForms {
			recomputable = false
		}
		waits := false
		for _, col := range p.Columns {
			recomputable = recomputable && known[col] && (!lookups[col] || l.Key.table.Columns[col].KeyPart)
			waits = waits || lookups[col]
		}
		numbered := false // the reader compares the names
		if len(p.Columns) == 1 {
			_, numbered = l.numberOf(p.Columns[0], ref)
		}
		switch {
		case !recomputable || numbered:
		case !waits || p.UsesLookup():
			check = append(check, ref)
		default:
			named = append(named, ref)
		}
	}
	return check, named
}
