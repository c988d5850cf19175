package pgcatalog

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/types"
)

//go:embed functions.tsv
var functionsText string

// signature is a line of functions.tsv: a function's name, the types of its arguments, and the type of its result. Arguments
// after [ are optional. A fourth field is a constant result, for all arguments that are not NULL.
type signature struct {
	name     string // in upper case
	args     []string
	least    int
	result   types.Type
	constant types.Value
	fixed    bool
}

var signatures = sync.OnceValue(func() map[string]*signature {
	out := map[string]*signature{}
	for _, line := range strings.Split(strings.TrimSuffix(functionsText, "\n"), "\n") {
		f := strings.Split(line, "\t")
		sig := &signature{name: strings.ToUpper(f[0]), least: -1}
		if f[1] != "" {
			sig.args = strings.Split(strings.TrimSuffix(f[1], "]"), ",")
		}
		for i, a := range sig.args {
			if rest, ok := strings.CutPrefix(a, "["); ok {
				sig.args[i], sig.least = rest, i
			}
		}
		if sig.least < 0 {
			sig.least = len(sig.args)
		}
		sig.result, _ = types.ParseType(f[2])
		if len(f) > 3 {
			sig.fixed, sig.constant = true, valueOf(f[3], sig.result)
		}
		out[sig.name] = sig
	}
	return out
})

// nullArgs are the functions that are also called if an argument is NULL; other functions return NULL then.
var nullArgs = []string{"FORMAT_TYPE", "PG_TYPEOF", "SET_CONFIG"}

// volatile are the functions that have effects, or may return another result at each call.
var volatile = append([]string{"SET_CONFIG", "PG_CANCEL_BACKEND", "PG_ADVISORY_LOCK", "PG_ADVISORY_UNLOCK", "PG_ADVISORY_UNLOCK_ALL", "PG_ADVISORY_XACT_LOCK", "PG_TRY_ADVISORY_LOCK",
	"PG_TRY_ADVISORY_XACT_LOCK"}, sets...)

// sets are the functions that return rows. ACLEXPLODE returns no rows: no object of hql has a list of rights.
var sets = []string{"_PG_EXPANDARRAY", "ACLEXPLODE"}

// fieldTypes has the types of those fields in the rows of sets that are not numbers.
var fieldTypes = map[string]types.Type{"grantor": types.OID, "grantee": types.OID, "privilege_type": types.String, "is_grantable": types.Boolean}

// function makes the function of a statement.
func (sig *signature) function(s *Session) *expr.Function {
	f := &expr.Function{Name: sig.name, Group: "catalog", MinArgs: sig.least, MaxArgs: len(sig.args), NullArgs: slices.Contains(nullArgs, sig.name),
		Volatile: slices.Contains(volatile, sig.name), Set: slices.Contains(sets, sig.name),
		Result: func(args []expr.Expr) (types.Type, error) {
			if sig.name == "_PG_FIELD" {
				if name, ok := args[1].(*expr.Const); ok {
					return cmp.Or(fieldTypes[strings.ToLower(name.Val.Text())], sig.result), nil
				}
			}
			return sig.result, nil
		}}
	for _, a := range sig.args {
		t, _ := types.ParseType(a)
		if !t.IsInteger() && t != types.Boolean {
			t = types.Null
		}
		f.Reads = append(f.Reads, t)
	}
	body := bodies[sig.name]
	f.Eval = func(env *expr.Env, args []types.Value) (types.Value, error) {
		if strings.Contains(sig.name, "ADVISORY") {
			return s.lock(sig, env, args)
		}
		if sig.fixed {
			return sig.constant, nil
		}
		if body == nil { // no object of hql has what the function returns
			return null, nil
		}
		args = slices.Clone(args)
		for i, a := range args {
			v, err := s.argument(a, sig.args[i])
			if err != nil {
				return v, err
			}
			args[i] = v
		}
		v, err := body(s, args)
		if err != nil || v.IsNull() || v.Type() == sig.result || v.Type().IsArray() {
			return v, err
		}
		return types.Cast(v, sig.result, time.UTC)
	}
	return f
}

// lock calls a function of advisory locks: of a key of 64 bits, or of two of 32, which are other locks.
func (s *Session) lock(sig *signature, env *expr.Env, args []types.Value) (types.Value, error) {
	switch {
	case s.Client != nil && s.Client.Lock != nil:
	case sig.fixed:
		return sig.constant, nil
	default:
		return null, fmt.Errorf("%s is not supported here: only clients of one hql serve have locks", strings.ToLower(sig.name))
	}
	stop, key := env.Stop, ""
	for _, a := range args {
		key += a.String() + " "
	}
	if stop == nil {
		stop = func() error { return nil }
	}
	got, err := s.Client.Lock(sig.name, key, stop)
	if err != nil || sig.result != types.Boolean {
		return types.NewString(""), err
	}
	return boolean(got)
}

// argument converts an argument to the type typ. It turns the name of a relation into its OID.
func (s *Session) argument(v types.Value, typ string) (types.Value, error) {
	if typ == "any" || v.IsNull() {
		return v, nil
	}
	t, _ := types.ParseType(typ)
	if t == types.RegClass {
		return s.named(types.RegClass, v)
	}
	return types.Cast(v, t, time.UTC)
}

type body func(s *Session, a []types.Value) (types.Value, error)

func text(s string) (types.Value, error)    { return types.NewString(s), nil }
func number64(n int64) (types.Value, error) { return types.NewInt(n), nil }
func boolean(b bool) (types.Value, error)   { return types.NewBool(b), nil }

// bodies compute the functions. A function of functions.tsv without a body returns its constant, or else NULL.
var bodies map[string]body

func init() {
	user := func(s *Session, _ []types.Value) (types.Value, error) { return text(s.user()) }
	database := func(s *Session, _ []types.Value) (types.Value, error) { return text(s.database()) }
	began := func(s *Session, _ []types.Value) (types.Value, error) {
		return types.NewTimestamp(s.began().UnixMilli()), nil
	}
	transaction := func(*Session, []types.Value) (types.Value, error) { return number64(1) }
	snapshot := func(*Session, []types.Value) (types.Value, error) { return text("1:1:") }
	arguments := ofProcedure(func(p *procedure) string { return p.arguments })
	named := func(t types.Type, missing bool) body {
		return func(s *Session, a []types.Value) (types.Value, error) {
			v, err := s.named(t, a[0])
			if err != nil && missing {
				return null, nil
			}
			return v, err
		}
	}
	bodies = map[string]body{
		"VERSION": func(*Session, []types.Value) (types.Value, error) {
			return text("PostgreSQL " + ServerVersion + " (hql), SQL over Apache HBase")
		},
		"CURRENT_SCHEMA": func(s *Session, _ []types.Value) (types.Value, error) {
			if names := s.schemasInPath(); len(names) > 0 {
				return names[0], nil
			}
			return null, nil
		},
		"CURRENT_SCHEMAS": func(s *Session, a []types.Value) (types.Value, error) {
			names := s.schemasInPath()
			if a[0].Bool() {
				names = append([]types.Value{types.NewName("pg_catalog")}, names...)
			}
			return types.NewArray(types.Name, names), nil
		},
		"PG_MY_TEMP_SCHEMA": func(s *Session, _ []types.Value) (types.Value, error) {
			of, err := s.named(types.RegNamespace, types.NewString(s.temporary()))
			if err != nil { // it has no table
				return number64(0)
			}
			return number64(of.Int())
		},
		"CURRENT_USER": user, "CURRENT_ROLE": user, "SESSION_USER": user, "USER": user,
		"CURRENT_DATABASE": database, "CURRENT_CATALOG": database,
		"PG_GET_USERBYID":     userByID,
		"PG_TABLE_IS_VISIBLE": visible,
		"FORMAT_TYPE":         formatType,
		"NAMECONCATOID":       func(_ *Session, a []types.Value) (types.Value, error) { return text(a[0].Text() + "_" + a[1].String()) },
		"OIDVECTORTYPES": func(s *Session, a []types.Value) (types.Value, error) {
			var names []string
			for _, x := range a[0].Items() {
				name, _ := formatType(s, []types.Value{x, null})
				names = append(names, name.Text())
			}
			return text(strings.Join(names, ", "))
		},
		"OBJ_DESCRIPTION": func(s *Session, a []types.Value) (types.Value, error) {
			if len(a) > 1 && a[1].Text() != "pg_class" {
				return null, nil
			}
			return s.comment(a[0], 0)
		},
		"COL_DESCRIPTION": func(s *Session, a []types.Value) (types.Value, error) { return s.comment(a[0], int(a[1].Int())) },
		"PG_GET_EXPR": func(s *Session, a []types.Value) (types.Value, error) {
			if name, ok := strings.CutPrefix(a[0].Text(), "nextval('"); ok && !strings.Contains(name, ".") && !slices.Contains(s.schemasInPath(), types.NewName("public")) {
				return text("nextval('public." + name)
			}
			return a[0], nil
		},
		"PG_GET_INDEXDEF":           indexDefinition,
		"PG_GET_SERIAL_SEQUENCE":    serialSequence,
		"PG_SEQUENCE_LAST_VALUE":    lastValue,
		"PG_GET_CONSTRAINTDEF":      constraintDefinition,
		"PG_GET_VIEWDEF":            viewDefinition,
		"PG_GET_FUNCTION_ARGUMENTS": arguments, "PG_GET_FUNCTION_IDENTITY_ARGUMENTS": arguments,
		"PG_GET_FUNCTION_RESULT": ofProcedure(func(p *procedure) string { return p.result }),
		"PG_ENCODING_TO_CHAR": func(_ *Session, a []types.Value) (types.Value, error) {
			if a[0].Int() == 6 {
				return text("UTF8")
			}
			return text("")
		},
		"PG_CHAR_TO_ENCODING": func(_ *Session, a []types.Value) (types.Value, error) {
			if strings.EqualFold(strings.ReplaceAll(a[0].Text(), "-", ""), "UTF8") {
				return number64(6)
			}
			return number64(-1)
		},
		"HAS_TABLE_PRIVILEGE": privilege(2), "HAS_ANY_COLUMN_PRIVILEGE": privilege(2), "HAS_COLUMN_PRIVILEGE": privilege(3), "HAS_SEQUENCE_PRIVILEGE": privilege(2),
		"HAS_SCHEMA_PRIVILEGE": privilege(2), "HAS_DATABASE_PRIVILEGE": privilege(2), "PG_HAS_ROLE": hasRole,
		"PG_RELATION_SIZE": size, "PG_TABLE_SIZE": size, "PG_TOTAL_RELATION_SIZE": size, "PG_INDEXES_SIZE": indexSize,
		"PG_RELATION_FILENODE":     func(_ *Session, a []types.Value) (types.Value, error) { return number64(a[0].Int()) },
		"PG_RELATION_IS_UPDATABLE": updatable(28), "PG_COLUMN_IS_UPDATABLE": updatable(1),
		"PG_INDEX_COLUMN_HAS_PROPERTY": indexProperty("asc", "orderable", "returnable", "search_array", "search_nulls", "nulls_last"),
		"PG_INDEX_HAS_PROPERTY":        indexProperty("index_scan", "bitmap_scan", "backward_scan"), "PG_INDEXAM_HAS_PROPERTY": indexProperty("can_order", "can_unique", "can_multi_col"),
		"CURRENT_SETTING": currentSetting, "SET_CONFIG": setConfig,
		"PG_BACKEND_PID": func(s *Session, _ []types.Value) (types.Value, error) {
			if s.Client == nil {
				return number64(0)
			}
			return number64(int64(s.Client.PID))
		},
		"PG_CANCEL_BACKEND": func(s *Session, a []types.Value) (types.Value, error) {
			return boolean(s.Client != nil && s.Client.Cancel != nil && s.Client.Cancel(uint32(a[0].Int())))
		},
		"PG_POSTMASTER_START_TIME": began, "PG_CONF_LOAD_TIME": began,
		"TXID_CURRENT": transaction, "PG_CURRENT_XACT_ID": transaction, "TXID_CURRENT_SNAPSHOT": snapshot, "PG_CURRENT_SNAPSHOT": snapshot,
		"PG_TYPEOF": func(s *Session, a []types.Value) (types.Value, error) {
			t := a[0].Type()
			if static, ok := types.ParseType(a[1].Text()); ok && (a[0].IsNull() || static.IsInteger()) {
				t = static
			}
			of := typeOf(t, types.Limit{})
			if a[1].Text() == "UNKNOWN" {
				of = typeByName()["unknown"]
			}
			return types.NewNamedOID(types.RegType, of.oid, of.sqlName()), nil
		},
		"TO_REGCLASS": named(types.RegClass, true), "TO_REGTYPE": named(types.RegType, true), "TO_REGPROC": named(types.RegProc, true), "TO_REGNAMESPACE": named(types.RegNamespace, true),
		"REGCLASS": named(types.RegClass, false), "REGTYPE": named(types.RegType, false), "REGPROC": named(types.RegProc, false), "REGNAMESPACE": named(types.RegNamespace, false),
		"_PG_EXPANDARRAY": func(_ *Session, a []types.Value) (types.Value, error) {
			rows := a[0].Items()
			for i, x := range rows {
				rows[i] = types.NewJSON(fmt.Sprintf(`{"x": %s, "n": %d}`, x.AppendJSON(nil), i+1))
			}
			return types.NewArray(types.JSON, rows), nil
		},
		"_PG_FIELD":             field,
		"_PG_CHAR_MAX_LENGTH":   func(_ *Session, a []types.Value) (types.Value, error) { return maxLength(a) },
		"_PG_NUMERIC_PRECISION": numericFact(0), "_PG_NUMERIC_PRECISION_RADIX": numericFact(1), "_PG_NUMERIC_SCALE": numericFact(2), "_PG_DATETIME_PRECISION": timePrecision,
	}
}

// ServerVersion is the version of PostgreSQL that clients see.
const ServerVersion = "15.10"

// schemasInPath returns the schemas of search_path that exist.
func (s *Session) schemasInPath() (names []types.Value) {
	schemas := s.objects().schemas
	for _, name := range s.path {
		if slices.ContainsFunc(schemas, func(of schema) bool { return of.name == name }) {
			names = append(names, types.NewName(name))
		}
	}
	return names
}

func userByID(s *Session, a []types.Value) (types.Value, error) {
	for _, r := range s.roles() {
		if r.oid == uint32(a[0].Int()) {
			return text(r.name)
		}
	}
	return text(fmt.Sprintf("unknown (OID=%d)", a[0].Int()))
}

func visible(s *Session, a []types.Value) (types.Value, error) {
	x := s.objects().byOID[uint32(a[0].Int())]
	if x == nil {
		return null, nil
	}
	return boolean(s.visible(x))
}
