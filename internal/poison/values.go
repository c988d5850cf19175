package poison

import "github.com/hql-db/hql/types"

// Values overwrites vs, values that nobody may use any more.
func Values(vs []types.Value) {
	if On {
		for i := range vs {
			vs[i] = types.NewString("\xdbhanded out again")
		}
	}
}
