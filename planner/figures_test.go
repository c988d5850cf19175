package planner

import (
	"fmt"
	"testing"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/internal/given"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/stats"
	"github.com/hql-db/hql/types"
)

// A sample has few rows of one city or none. That countries follow from cities, and cities from zips, tells what such rows are likely to be.
func TestEstimatesOfColumnsThatFollow(t *testing.T) {
	cat := given.Tables(t, "CREATE TABLE parcels (id BIGINT, city STRING FROM d:city, country STRING FROM d:country, zip BIGINT FROM d:zip, kind BIGINT FROM d:kind) ROW KEY (id AS INT64)")
	table, _ := cat.Table("parcels")
	known := collected(t, table, 4000, 250, func(i int64) []types.Value {
		city := i * 7 % 200
		return []types.Value{types.NewInt(i), types.NewString(fmt.Sprintf("city%d", city)), types.NewString(fmt.Sprintf("land%d", city%20)),
			types.NewInt(10*city + i/200%10), types.NewInt(i / 1000)}
	})
	env := &Env{Catalog: cat, Statistics: func(*catalog.Table) *stats.Table { return known }}
	for _, c := range []struct {
		where       string
		least, most float64 // rows
	}{
		{"city = 'city7' AND country = 'land7'", 4000, 6000},
		{"country = 'land7' AND city = 'city7'", 4000, 6000},
		{"city = 'city7' AND country = 'land8'", 0, 10},
		{"country = 'land8' AND city = 'city7'", 0, 10},
		{"zip = 75 AND city = 'city7'", 250, 1000},
		{"city = 'city7' AND zip = 75", 250, 1000},
		{"city = 'city7' AND zip = 85", 0, 10},
		{"city = 'city7' AND country = 'land7' AND zip = 75", 250, 1000},
		{"city = 'city7' AND kind = 2", 600, 2500},
		{"city = 'city7' AND kind = 9", 0, 250},
	} {
		st := given.Query(t, "SELECT * FROM parcels WHERE "+c.where)
		p, err := env.Select(st)
		if err != nil {
			t.Fatal(err)
		}
		if rows := plan.Scans(p.Root)[0].Estimate.Rows; rows < c.least || rows > c.most {
			t.Errorf("%s: %.3g rows, want %v to %v", c.where, rows, c.least, c.most)
		}
	}
}
