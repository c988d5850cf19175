package importer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/hbase"
)

// PhoenixCatalog reads the tables that SYSTEM.CATALOG describes, including their encodings, which a statement does not
// contain. It returns a catalog file, with comments on tables that hql does not read.
func PhoenixCatalog(ctx context.Context, c hbase.Client) (string, error) {
	s := phoenixSystem{families: func(table string) ([]hbase.Family, error) { return c.Families(ctx, table) },
		byID: map[phoenixID]*phoenixObject{}, named: map[string][]*phoenixObject{}, of: map[*phoenixObject][]*phoenixObject{}}
	var err error
	if s.table, err = readEither(ctx, c, "CATALOG", s.add); err != nil {
		return "", err
	}
	if s.table == "" {
		return "", errors.New("the cluster has no table SYSTEM.CATALOG (or SYSTEM:CATALOG): Phoenix was never installed there")
	}
	var sequences []string
	_, err = readEither(ctx, c, "SEQUENCE", func(r hbase.Row) {
		if f := strings.Split(saltless(r.Key), "\x00"); len(f) == 3 {
			sequences = append(sequences, dotted(f[1], f[2]))
		}
	})
	if err != nil {
		return "", err
	}
	return s.definitions(sequences), nil
}

// readEither passes the rows of the table SYSTEM.name or SYSTEM:name to f, and returns the name that exists; "" if
// neither does.
func readEither(ctx context.Context, c hbase.Client, name string, f func(hbase.Row)) (table string, err error) {
	for _, sep := range []string{".", ":"} {
		full := "SYSTEM" + sep + name
		for row, err := range hbase.Rows(ctx, c, hbase.ScanRange{Table: full}, &hbase.ReadOptions{NoCacheBlocks: true}) {
			if errors.Is(err, hbase.ErrNoTable) {
				full = ""
				break
			}
			if err != nil {
				return "", fmt.Errorf("read %s: %w", full, err)
			}
			f(row)
		}
		table = cmp.Or(full, table)
	}
	return table, nil
}

// saltless returns a key of SYSTEM.SEQUENCE without its salt, if it has one. Names have no bytes as low as a salt.
func saltless(key []byte) string {
	if len(key) > 0 && key[0] != 0 && key[0] < ' ' || len(key) > 1 && key[0] == 0 && strings.Count(string(key), "\x00") > 2 {
		key = key[1:]
	}
	return string(key)
}

// phoenixSystem holds the objects of SYSTEM.CATALOG in the order of their names.
type phoenixSystem struct {
	table   string // SYSTEM.CATALOG, or SYSTEM:CATALOG with mapped namespaces
	objects []*phoenixObject
	byID    map[phoenixID]*phoenixObject
	named   map[string][]*phoenixObject         // by the full name, which objects of several tenants may share
	of      map[*phoenixObject][]*phoenixObject // a table and its views, by the table
	// families describes an HBase table.
	families func(table string) ([]hbase.Family, error)
}

// phoenixObject is a table, view or index.
type phoenixObject struct {
	id      phoenixID
	header  cells
	columns []phoenixCell
	links   map[int64][]string // by kind, the names of other objects
}

type phoenixID struct{ tenant, schema, name string }

// hql returns hql's name for the object. It depends on no other object, unless two names differ only in case.
func (id phoenixID) hql() string {
	name := lower(id.name)
	if id.schema != "" {
		name = lower(id.schema) + ":" + name
	}
	if id.tenant != "" {
		name += "@" + id.tenant
	}
	return name
}

// phoenixCell is a column of an object.
type phoenixCell struct {
	name, family string
	cells
}

// cells are a row's values by qualifier.
type cells map[string][]byte

func (c cells) text(name string) string { return string(c[name]) }

// number decodes a cell that holds an integer of up to 8 bytes with its sign bit flipped. It returns 0 if there is no
// such cell.
func (c cells) number(name string) int64 {
	b := c[name]
	if len(b) == 0 || len(b) > 8 {
		return 0
	}
	var n uint64
	for _, x := range b {
		n = n<<8 | uint64(x)
	}
	unused := 64 - 8*len(b)
	return int64((n^1<<(8*len(b)-1))<<unused) >> unused
}

func (c cells) count(name string) int64 {
	if b := c[name]; len(b) == 1 {
		return int64(b[0])
	}
	return 0
}

func (c cells) isTrue(name string) bool {
	b := c[name]
	return len(b) == 1 && b[0] != 0
}

// expires reports whether Phoenix hides old rows of the object. A TTL is a number of seconds, or a text in later
// versions. The TTL of an HBase family does not count, since servers apply it to all clients.
func (c cells) expires() bool {
	for _, name := range []string{"TTL", "PHOENIX_TTL"} {
		switch n := c.number(name); {
		case len(strings.Trim(c.text(name), "\x00")) == 0, n == 0, len(c[name]) == 4 && n == math.MaxInt32:
		case slices.Contains([]string{"0", "NONE", "FOREVER", strconv.Itoa(math.MaxInt32)}, strings.ToUpper(c.text(name))):
		default:
			return true
		}
	}
	return false
}

// Kinds of links.
const (
	indexLink     = 1
	physicalLink  = 2
	parentLink    = 3
	viewIndexLink = 6 // from an index to its view
)

// add reads a row of SYSTEM.CATALOG. The objects' own rows come before those of their columns and links.
func (s *phoenixSystem) add(r hbase.Row) {
	f := strings.Split(string(r.Key), "\x00")
	for len(f) < 5 {
		f = append(f, "")
	}
	values := cells{}
	for _, c := range r.Cells {
		values[string(c.Qualifier)] = slices.Clone(c.Value)
	}
	id := phoenixID{f[0], f[1], f[2]}
	if f[3] == "" && f[4] == "" {
		o := &phoenixObject{id: id, header: values, links: map[int64][]string{}}
		s.objects, s.byID[id] = append(s.objects, o), o
		s.named[o.fullName()] = append(s.named[o.fullName()], o)
		return
	}
	o := s.object(id)
	if o == nil {
		return // left by a dropped table
	}
	if f[3] == "" || values["LINK_TYPE"] != nil {
		kind := values.count("LINK_TYPE")
		o.links[kind] = append(o.links[kind], f[4])
		return
	}
	o.columns = append(o.columns, phoenixCell{name: f[3], family: f[4], cells: values})
}

func (s *phoenixSystem) object(id phoenixID) *phoenixObject { return s.byID[id] }

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func dotted(schema, name string) string {
	if schema == "" {
		return name
	}
	return schema + "." + name
}

// definitions returns a definition, or a comment, for each object.
func (s *phoenixSystem) definitions(sequences []string) string {
	var b strings.Builder
	used, served := &table{}, map[*phoenixObject]bool{}
	for _, o := range s.objects {
		s.of[s.base(o)] = append(s.of[s.base(o)], o)
	}
	for _, o := range s.objects {
		kind := o.header.text("TABLE_TYPE")
		if kind == "s" || kind == "i" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		what := map[string]string{"u": "table", "v": "view"}[kind]
		t, err := s.define(o, used, served)
		if err == nil {
			var sql string
			if sql, err = t.sql(); err == nil {
				b.WriteString(sql)
				continue
			}
		}
		fmt.Fprintf(&b, "-- TODO %s %s is left out: %s\n", what, o, oneLine(err))
	}
	for _, o := range s.objects {
		if o.header.text("TABLE_TYPE") == "i" && !served[o] {
			fmt.Fprintf(&b, "\n-- TODO index %s is left out: %s\n", o, o.unserved())
		}
	}
	for _, name := range sequences {
		fmt.Fprintf(&b, "\n-- TODO sequence %s is left out: only Phoenix can draw numbers from it\n", name)
	}
	return b.String()
}

// fullName returns the name with its schema.
func (o *phoenixObject) fullName() string { return dotted(o.id.schema, o.id.name) }

// String returns the name as in Phoenix's statements.
func (o *phoenixObject) String() string {
	name := o.fullName()
	if o.id.tenant != "" {
		name += " of tenant " + o.id.tenant
	}
	return name
}

// stored returns the name of o's HBase table.
func (o *phoenixObject) stored() string {
	if o.header.isTrue("IS_NAMESPACE_MAPPED") && o.id.schema != "" {
		return o.id.schema + ":" + o.id.name
	}
	return o.fullName()
}

// define returns the definition of o. It adds o's indexes to served: those that serve hql's queries, and those that
// cannot, for which it notes the reason.
func (s *phoenixSystem) define(o *phoenixObject, used *table, served map[*phoenixObject]bool) (*table, error) {
	base, owners := o, []*phoenixObject{o}
	switch kind := o.header.text("TABLE_TYPE"); kind {
	case "u":
	case "v":
		for len(base.links[parentLink])+len(base.links[physicalLink]) > 0 {
			above := s.above(base)
			if above == nil || len(owners) > maxViews {
				return nil, errors.New("the table of the view is missing")
			}
			base, owners = above, append(owners, above)
		}
	default:
		return nil, fmt.Errorf("its TABLE_TYPE is %q", kind)
	}
	if base.header.isTrue("TRANSACTIONAL") || base.header["TRANSACTION_PROVIDER"] != nil {
		return nil, errors.New("it is transactional: uncommitted and deleted rows have cells that hql cannot distinguish from others")
	}
	for _, owner := range owners {
		if owner.header.expires() {
			return nil, fmt.Errorf("%s has a TTL: Phoenix hides expired rows and cells, but HBase keeps them until a major compaction", owner)
		}
	}
	t := &table{name: used.unique(o.id.hql()), stored: base.stored()}
	d := phoenixDef{table: t, name: o.id.name, family: "0", constants: map[string]string{}}
	if f := base.header.text("DEFAULT_COLUMN_FAMILY"); f != "" {
		d.family = f
	}
	if n := base.header.number("SALT_BUCKETS"); n > 0 {
		d.salt = strconv.FormatInt(n, 10)
	}
	slices.Reverse(owners) // the table's columns come first
	for _, owner := range owners {
		if err := d.addColumns(owner, base); err != nil {
			return nil, err
		}
	}
	if len(d.keys) == 0 {
		return nil, errors.New("it has no PRIMARY KEY")
	}
	for _, owner := range owners {
		if err := d.bind(owner); err != nil {
			return nil, err
		}
	}
	if o.id.tenant != "" {
		d.constants[d.keys[0].name] = o.id.tenant
	}
	if err := d.describe(); err != nil {
		return nil, err
	}
	if base.encoded() {
		t.with = append(t.with, "ROW_MARKER = X'00000000'")
	} else {
		t.with = append(t.with, "ROW_MARKER = '_0'")
	}
	if why := s.kept(&d, owners); why != "" {
		t.with = append(t.with, "READ_ONLY = "+text(why))
	}
	if o == base {
		s.addIndexes(&d, o, served)
	}
	return t, nil
}

// maxViews bounds the views between a view and its table.
const maxViews = 100

// above returns the view on which the view o is directly defined, or else the table.
func (s *phoenixSystem) above(o *phoenixObject) *phoenixObject {
	for _, kind := range []int64{parentLink, physicalLink} {
		for _, name := range o.links[kind] {
			for _, other := range s.named[strings.ReplaceAll(name, ":", ".")] {
				if other != o && (other.id.tenant == "" || other.id.tenant == o.id.tenant) {
					return other
				}
			}
		}
	}
	return nil
}

// base returns the table on which the view o is defined; o itself if it is no view.
func (s *phoenixSystem) base(o *phoenixObject) *phoenixObject {
	for range maxViews {
		above := s.above(o)
		if above == nil {
			break
		}
		o = above
	}
	return o
}

// qualifierOf returns the number in an encoded qualifier, without its top bit, which is set in qualifiers of 2 bytes.
func qualifierOf(b []byte) (n int64) {
	for _, x := range b {
		n = n<<8 | int64(x)
	}
	return n &^ (1 << (8*max(len(b), 1) - 1))
}

// kept returns the reason why hql must not write rows of d, such as data that Phoenix writes with each row and hql does
// not. It returns "" if there is no reason. d is a table or view with the columns of owners, of which the first is the
// table.
func (s *phoenixSystem) kept(d *phoenixDef, owners []*phoenixObject) string {
	base := owners[0]
	if base.single() {
		return "one cell holds all columns"
	}
	for _, o := range s.of[base] {
		switch {
		case o.header.text("TABLE_TYPE") == "i":
		case len(o.links[indexLink]) > 0:
			return "Phoenix keeps the indexes of " + o.String()
		}
	}
	for _, o := range owners {
		for _, c := range o.columns {
			if c.isTrue("IS_ROW_TIMESTAMP") {
				return "Phoenix writes cells at the time in " + c.name
			}
		}
	}
	for _, c := range d.cols {
		p, _ := c.stored("", &table{})
		switch _, known := c.absent(p); {
		case c.array:
			return "hql does not write arrays, as " + c.name + " is"
		case c.filled && (d.isKey(c) || !known):
			return "Phoenix distinguishes the DEFAULT from NULL in " + c.name
		}
	}
	return ""
}

// single reports whether one cell holds all columns of a family.
func (o *phoenixObject) single() bool { return o.header.number("IMMUTABLE_STORAGE_SCHEME") == 2 }

// encoded reports whether qualifiers are numbers.
func (o *phoenixObject) encoded() bool { return o.header.number("ENCODING_SCHEME") != 0 }

// addColumns adds the columns that o, which is base or a view of it, defines itself.
func (d *phoenixDef) addColumns(o, base *phoenixObject) error {
	columns := slices.Clone(o.columns)
	slices.SortStableFunc(columns, func(a, b phoenixCell) int { return int(a.number("ORDINAL_POSITION") - b.number("ORDINAL_POSITION")) })
	type key struct {
		at int64
		keyColumn
	}
	var keys []key
	for _, c := range columns {
		typ, array, err := phoenixTypeOf(c.number("DATA_TYPE"))
		if err != nil {
			return fmt.Errorf("column %s: %w", c.name, err)
		}
		col := &phoenixColumn{family: c.family, name: c.name, typ: typ, array: array, length: int(c.number("COLUMN_SIZE")),
			notNull: c.number("NULLABLE") == 0, filled: c.cells["COLUMN_DEF"] != nil, def: c.text("COLUMN_DEF"),
			storesNull: base.header.isTrue("STORE_NULLS") && !base.header.isTrue("IMMUTABLE_ROWS")}
		switch n := c.number("KEY_SEQ"); {
		case n > 0:
			col.family = ""
			keys = append(keys, key{n, keyColumn{c.name, c.number("SORT_ORDER") == 1}})
		default:
			if err := col.placed(c, base); err != nil {
				return err
			}
		}
		d.cols = append(d.cols, col)
	}
	slices.SortFunc(keys, func(a, b key) int { return int(a.at - b.at) })
	for _, k := range keys {
		d.keys = append(d.keys, k.keyColumn)
	}
	return nil
}

// placed sets the cell of c, a column of o, as Phoenix's description of the column says.
func (c *phoenixColumn) placed(of phoenixCell, o *phoenixObject) error {
	c.element, c.qualifier = 0, ""
	if !o.single() {
		c.qualifier = cmp.Or(of.text("COLUMN_QUALIFIER"), of.name)
		return nil
	}
	if c.element = qualifierOf(of.cells["COLUMN_QUALIFIER"]) - firstQualifier + 1; c.element < 1 {
		return fmt.Errorf("column %s has the COLUMN_QUALIFIER X'%X'", of.name, of.cells["COLUMN_QUALIFIER"])
	}
	return nil
}

// bind records the constants of key columns in the view o. It refuses views with another condition.
func (d *phoenixDef) bind(o *phoenixObject) error {
	statement := o.header.text("VIEW_STATEMENT")
	toks, err := tokens(statement)
	if err != nil {
		return err
	}
	r := &reader{statement, toks}
	if !r.find("WHERE") {
		return nil
	}
	depth := 0
	for r.accept("(") {
		depth++
	}
	for {
		_, name, err := phoenixName(r)
		if err == nil && !slices.ContainsFunc(d.keys, func(k keyColumn) bool { return k.name == name }) {
			err = errors.New("not a column of the key")
		}
		if err == nil {
			err = r.expect("=")
		}
		constant := r.next()
		if err != nil || constant.kind != str && (constant.kind != word || strings.Trim(constant.text, "0123456789") != "") {
			return fmt.Errorf("it is %s: hql can bind only constants of key columns", statement)
		}
		d.constants[name] = constant.text
		for depth > 0 && r.accept(")") {
			depth--
		}
		if len(r.toks) == 0 {
			return nil
		}
		if !r.accept("AND") {
			return fmt.Errorf("it is %s: hql can bind only constants of key columns", statement)
		}
		for r.accept("(") {
			depth++
		}
	}
}

// phoenixCodes maps the numbers of types, java.sql's and Phoenix's own, to their names.
var phoenixCodes = map[int64]string{
	12: "VARCHAR", 1: "CHAR", 4: "INTEGER", -5: "BIGINT", 5: "SMALLINT", -6: "TINYINT", 8: "DOUBLE", 6: "FLOAT", 3: "DECIMAL", 16: "BOOLEAN",
	91: "DATE", 92: "TIME", 93: "TIMESTAMP", -3: "VARBINARY", -2: "BINARY",
	9: "UNSIGNED_INT", 10: "UNSIGNED_LONG", 11: "UNSIGNED_TINYINT", 13: "UNSIGNED_SMALLINT", 14: "UNSIGNED_FLOAT", 15: "UNSIGNED_DOUBLE",
	18: "UNSIGNED_TIME", 19: "UNSIGNED_DATE", 20: "UNSIGNED_TIMESTAMP",
}

// arrayCodes is added to the number of the element type for an array.
const arrayCodes = 3000

func phoenixTypeOf(code int64) (name string, array bool, err error) {
	if code >= arrayCodes-10 {
		code, array = code-arrayCodes, true
	}
	name, ok := phoenixCodes[code]
	if !ok {
		return "", false, fmt.Errorf("its type has the unknown number %d", code)
	}
	return name, array, nil
}
