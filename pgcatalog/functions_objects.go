package pgcatalog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr/functions"
	"github.com/hql-db/hql/types"
)

// object finds an object by its OID.
func (s *Session) object(v types.Value) *object { return s.objects().byOID[uint32(v.Int())] }

// named converts a name or an OID to the type t, which is REGCLASS or another type of named OIDs.
func (s *Session) named(t types.Type, v types.Value) (types.Value, error) {
	if !v.Type().IsText() {
		oid, err := types.Cast(v, types.OID, nil)
		if err != nil || v.Type() == t {
			return v, err
		}
		return types.NewNamedOID(t, uint32(oid.Int()), s.nameOf(t, uint32(oid.Int()))), nil
	}
	if n, err := types.Cast(v, types.OID, nil); err == nil {
		return s.named(t, n)
	}
	if v.Text() == "-" {
		return types.NewNamedOID(t, 0, ""), nil
	}
	if t == types.RegType {
		return s.namedType(v.Text())
	}
	path, err := functions.ParseIdent(v.Text(), true)
	if err != nil {
		return v, err
	}
	schema, name := "", path[len(path)-1]
	if len(path) > 1 {
		schema = path[len(path)-2]
	}
	var oid uint32
	kind := "relation"
	switch t {
	case types.RegNamespace:
		kind = "schema"
		for _, n := range s.objects().schemas {
			if n.name == name {
				oid = n.oid
			}
		}
	case types.RegProc:
		kind = "function"
		if p := s.procedure(func(p procedure) bool { return p.name == name }); p != nil {
			oid = p.oid
		}
	default:
		if x := s.find(schema, name); x != nil {
			oid = x.oid
		}
	}
	if oid == 0 {
		return v, missing{kind, strings.Join(path, ".")}
	}
	return types.NewNamedOID(t, oid, s.nameOf(t, oid)), nil
}

// missing says that no object has a name.
type missing struct{ kind, name string }

func (m missing) Error() string { return fmt.Sprintf("%s %q does not exist", m.kind, m.name) }

// Unwrap returns catalog.ErrUnknownTable if a relation is missing, otherwise nil.
func (m missing) Unwrap() error {
	if m.kind == "relation" {
		return catalog.ErrUnknownTable
	}
	return nil
}

// procedure returns the first function that is accepts; nil if there is none.
func (s *Session) procedure(is func(p procedure) bool) *procedure {
	for _, of := range []func() []procedure{knownProcedures, s.procedures} {
		all := of()
		if i := slices.IndexFunc(all, is); i >= 0 {
			return &all[i]
		}
	}
	return nil
}

// procedureAt returns the function with this OID; nil if there is none.
func (s *Session) procedureAt(oid uint32) *procedure {
	return s.procedure(func(p procedure) bool { return p.oid == oid })
}

// ofProcedure makes a function that returns a text about the function whose OID is its argument.
func ofProcedure(about func(*procedure) string) body {
	return func(s *Session, a []types.Value) (types.Value, error) {
		if p := s.procedureAt(uint32(a[0].Int())); p != nil {
			return text(about(p))
		}
		return null, nil
	}
}

// namedType returns the type with this name, as in SQL or in pg_type.
func (s *Session) namedType(name string) (types.Value, error) {
	short := strings.ToLower(strings.TrimPrefix(strings.TrimSpace(name), "pg_catalog."))
	if path, err := functions.ParseIdent(short, true); err == nil && len(path) <= 2 { // "pg_catalog"."uuid"
		short = path[len(path)-1]
	}
	t, ok := typeByName()[short]
	if !ok {
		if parsed, known := types.ParseType(strings.ToUpper(short)); known {
			t, ok = typeOf(parsed, types.Limit{}), true
		}
	}
	if !ok {
		return null, fmt.Errorf("type %q does not exist", name)
	}
	return types.NewNamedOID(types.RegType, t.oid, t.sqlName()), nil
}

// nameOf returns the name of the object with this OID, or "" if there is none.
func (s *Session) nameOf(t types.Type, oid uint32) string {
	switch t {
	case types.RegClass:
		if x := s.objects().byOID[oid]; x != nil && s.visible(x) {
			return functions.QuoteIdent(x.name)
		} else if x != nil {
			return x.qualified()
		}
	case types.RegType:
		if f, ok := typeByOID()[oid]; ok {
			return f.sqlName()
		}
	case types.RegNamespace:
		for _, n := range s.objects().schemas {
			if n.oid == oid {
				return functions.QuoteIdent(n.name)
			}
		}
	case types.RegProc:
		if p := s.procedureAt(oid); p != nil {
			return p.name
		}
	}
	return ""
}

// formatType returns the name of a type with its modifier, such as the length.
func formatType(_ *Session, a []types.Value) (types.Value, error) {
	if a[0].IsNull() {
		return null, nil
	}
	t, ok := typeByOID()[uint32(a[0].Int())]
	switch {
	case a[0].Int() == 0:
		return text("-")
	case !ok:
		return text("???")
	}
	name := t.sqlName()
	if m := a[1].Int() - 4; !a[1].IsNull() && m >= 0 {
		switch t.name {
		case "varchar", "bpchar":
			name += "(" + strconv.FormatInt(m, 10) + ")"
		case "numeric":
			name += fmt.Sprintf("(%d,%d)", m>>16, m&0x7ff)
		}
	}
	return text(name)
}

// comment returns the comment on a table, or on its column with this number; NULL for other objects.
func (s *Session) comment(oid types.Value, column int) (types.Value, error) {
	x := s.object(oid)
	if x == nil || !x.rows() {
		return null, nil
	}
	if column == 0 {
		return text(tableComment(x.table))
	}
	if columns := x.columns(s); column > 0 && column <= len(columns) && columns[column-1].comment != "" {
		return text(columns[column-1].comment)
	}
	return null, nil
}

func indexDefinition(s *Session, a []types.Value) (types.Value, error) {
	x := s.object(a[0])
	if x == nil || x.kind != "i" {
		return null, nil
	}
	if len(a) > 1 && a[1].Int() != 0 {
		parts := x.parts()
		if n := a[1].Int(); n > 0 && n <= int64(len(parts)) {
			return text(parts[n-1].sql())
		}
		return text("")
	}
	return text(x.definition(len(a) > 2 && a[2].Bool() && s.visible(x.of)))
}

func constraintDefinition(s *Session, a []types.Value) (types.Value, error) {
	oid := uint32(a[0].Int())
	for _, x := range s.objects().all {
		if i := slices.Index(x.checks, oid); i >= 0 {
			return text(x.table.Checks[i].Condition())
		}
	}
	x := s.objects().byOID[oid-1]
	if x == nil || x.kind != "i" {
		return null, nil
	}
	return text("PRIMARY KEY (" + x.keyText() + ")")
}

func viewDefinition(s *Session, a []types.Value) (types.Value, error) {
	if x := s.object(a[0]); x != nil && x.definedBy() != nil {
		return text(x.query())
	}
	return text("Not a view")
}

// privilege makes a function that returns whether the user has the privileges in its last argument. names is the number of its
// arguments without the user.
func privilege(names int) body {
	return func(s *Session, a []types.Value) (types.Value, error) {
		object := a[len(a)-names]
		if object.Type().IsText() && names > 1 {
			if _, err := s.named(types.RegClass, object); err != nil && names == 3 {
				return null, err
			}
		}
		for _, p := range strings.Split(strings.ToUpper(a[len(a)-1].Text()), ",") {
			p = strings.TrimSuffix(strings.TrimSpace(p), " WITH GRANT OPTION")
			switch p {
			case "SELECT", "USAGE", "CONNECT":
				return boolean(true)
			case "INSERT", "UPDATE", "DELETE", "CREATE", "TRUNCATE":
				if s.mayWrite() {
					return boolean(true)
				}
			case "REFERENCES", "TRIGGER", "TEMP", "TEMPORARY":
			default:
				return null, fmt.Errorf("unrecognized privilege type: %q", a[len(a)-1].Text())
			}
		}
		return boolean(false)
	}
}

func hasRole(s *Session, a []types.Value) (types.Value, error) {
	role := a[len(a)-2]
	for _, r := range s.roles() {
		if role.Type().IsText() && r.name == role.Text() || !role.Type().IsText() && r.oid == uint32(role.Int()) {
			return boolean(r.name == s.user())
		}
	}
	return boolean(false)
}

// pageSize is the size of a page in PostgreSQL, in bytes.
const pageSize = 8192

// size returns the size of a table in bytes: of its regions if ANALYZE read it, or else the estimate for its rows. It returns 0
// without statistics.
func (s *Session) size(x *object) int64 {
	st := s.statistics(x.table)
	switch {
	case st == nil || !x.rows():
		return 0
	case st.Size > 0:
		return st.Size
	case st.Unscaled:
		return 0
	}
	return int64(st.Rows * st.Bytes)
}

func size(s *Session, a []types.Value) (types.Value, error) {
	x := s.object(a[0])
	if x == nil {
		return null, nil
	}
	return number64(s.size(x))
}

func indexSize(s *Session, a []types.Value) (types.Value, error) {
	if s.object(a[0]) == nil {
		return null, nil
	}
	return number64(0)
}

// updatable makes a function that returns events, a set of bits, if the table may be written, otherwise 0.
func updatable(events int64) body {
	return func(s *Session, a []types.Value) (types.Value, error) {
		x := s.object(a[0])
		if x == nil || x.table == nil || x.kind != "r" || x.table.ReadOnly != "" || !s.mayWrite() {
			return number64(0)
		}
		return number64(events)
	}
}

// indexProperty makes a function that returns whether has contains the property in its last argument.
func indexProperty(has ...string) body {
	return func(_ *Session, a []types.Value) (types.Value, error) {
		return boolean(slices.Contains(has, strings.ToLower(a[len(a)-1].Text())))
	}
}

func currentSetting(s *Session, a []types.Value) (types.Value, error) {
	v, err := s.setting(a[0].Text())
	if err == nil {
		return text(v)
	}
	if len(a) > 1 && a[1].Bool() {
		return null, nil
	}
	return null, err
}

func setConfig(s *Session, a []types.Value) (types.Value, error) {
	if a[0].IsNull() {
		return null, nil
	}
	if s.Client == nil || s.Client.Set == nil {
		return null, fmt.Errorf("set_config needs a connection to hql serve: use SET %s", a[0].Text())
	}
	if err := s.Client.Set(a[0].Text(), a[1].Text(), !a[2].IsNull() && a[2].Bool()); err != nil {
		return null, err
	}
	v, err := s.setting(a[0].Text())
	if err != nil { // a name with a dot that held until the end of the statement
		v = a[1].Text()
	}
	return text(v)
}

// field returns a field of a row of _pg_expandarray. hql represents such a row as JSON.
func field(_ *Session, a []types.Value) (types.Value, error) {
	for _, part := range strings.Split(strings.Trim(a[0].Text(), "{}"), ",") {
		name, value, _ := strings.Cut(part, ":")
		if strings.Trim(strings.TrimSpace(name), `"`) == strings.ToLower(a[1].Text()) {
			if v, err := types.Cast(types.NewString(strings.TrimSpace(value)), types.Int, nil); err == nil {
				return v, nil
			}
		}
	}
	return null, fmt.Errorf("there is no row with a field %[1]q here: json ->> '%[1]s' reads a member of JSON", a[1].Text())
}

func maxLength(a []types.Value) (types.Value, error) {
	if t := typeByOID()[uint32(a[0].Int())]; t.name != "varchar" && t.name != "bpchar" || a[1].Int() < 4 {
		return null, nil
	}
	return number64(a[1].Int() - 4)
}

// numericFact is the precision (0), its radix (1) or the scale (2) of the numbers of a type with a modifier.
func numericFact(k int) body {
	return func(_ *Session, a []types.Value) (types.Value, error) {
		t, m := typeByOID()[uint32(a[0].Int())], a[1].Int()-4
		if t.name == "numeric" && m >= 0 && k != 1 {
			return number64([]int64{m >> 16, 0, m & 0x7ff}[k])
		}
		if n, ok := numericFacts[t.name][k].(int); ok {
			return number64(int64(n))
		}
		return null, nil
	}
}

func timePrecision(_ *Session, a []types.Value) (types.Value, error) {
	switch typeByOID()[uint32(a[0].Int())].name {
	case "date":
		return number64(0)
	case "time", "timestamp", "timestamptz", "interval":
		return number64(6)
	}
	return null, nil
}
