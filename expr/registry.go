package expr

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

// Registry finds functions by name. Functions can be added to it before it is used.
type Registry struct {
	funcs   map[string]*Function
	aliases map[string]string
	// Encode returns a function that encodes values of a type. A catalog sets it; nil: no encoding is known.
	Encode func(e *parser.EncodingDef, of types.Type) (func(types.Value) (types.Value, error), error)
}

// NewRegistry returns a registry of the functions in groups. aliases gives their other names.
func NewRegistry(aliases map[string]string, groups ...[]Function) *Registry {
	r := &Registry{funcs: map[string]*Function{}, aliases: aliases}
	for _, group := range groups {
		for i := range group {
			r.funcs[group[i].Name] = &group[i]
		}
	}
	return r
}

// Clone returns a registry with the functions of r, to which others can be added.
func (r *Registry) Clone() *Registry {
	return &Registry{funcs: maps.Clone(r.funcs), aliases: r.aliases, Encode: r.Encode}
}

// Register adds f. Its name must be new.
func (r *Registry) Register(f Function) error {
	f.Name = strings.ToUpper(f.Name)
	if r.Lookup(f.Name) != nil {
		return fmt.Errorf("function %s already exists", f.Name)
	}
	if f.Eval == nil || f.Result == nil {
		return fmt.Errorf("function %s needs Result and Eval", f.Name)
	}
	r.funcs[f.Name] = &f
	return nil
}

// Lookup returns the function with a name or an alias, or nil.
func (r *Registry) Lookup(name string) *Function {
	name = strings.ToUpper(name)
	if f := r.funcs[name]; f != nil {
		return f
	}
	return r.funcs[r.aliases[name]]
}

// Aliases returns the other names of the function, sorted.
func (r *Registry) Aliases(name string) []string {
	var out []string
	for alias, of := range r.aliases {
		if of == name {
			out = append(out, alias)
		}
	}
	slices.Sort(out)
	return out
}

// All returns the functions sorted by group and name, operators first.
func (r *Registry) All() []*Function {
	out := make([]*Function, 0, len(r.funcs))
	for _, f := range r.funcs {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b *Function) int {
		return strings.Compare(a.Group+"\x00"+a.Name, b.Group+"\x00"+b.Name)
	})
	return out
}

// Suggest adds to err a hint at the candidate that is most similar to name, if one is similar. It ignores case.
func Suggest(err *parser.Error, name string, candidates []string) *parser.Error {
	name = strings.ToLower(name)
	best, most := "", (len(name)+1)/3
	for _, c := range candidates {
		if d := distance(name, strings.ToLower(c), most); d <= most {
			best, most = c, d-1
		}
	}
	if best == "" {
		return err
	}
	return err.WithHint("did you mean %s?", best)
}

// distance returns the Levenshtein distance, or more than most if it exceeds most.
func distance(a, b string, most int) int {
	if len(a)-len(b) > most || len(b)-len(a) > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := diag
			if a[i] != b[j] {
				d = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

func (f *Function) arity() string {
	switch {
	case f.MaxArgs < 0 && f.MinArgs == 1:
		return "at least 1 argument"
	case f.MaxArgs < 0:
		return fmt.Sprintf("at least %d arguments", f.MinArgs)
	case f.MinArgs == f.MaxArgs && f.MinArgs == 1:
		return "1 argument"
	case f.MinArgs == f.MaxArgs:
		return fmt.Sprintf("%d arguments", f.MinArgs)
	}
	return fmt.Sprintf("%d to %d arguments", f.MinArgs, f.MaxArgs)
}
