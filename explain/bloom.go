package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// bloom returns the Bloom filter that saves the servers from reading store files, by HBase's name of it or "none", and
// the reason. Both are empty if the definition does not describe the families that are read. If families differ, each
// is listed: "a: ROW, b: none".
func bloom(s *plan.Scan) (kind, why string) {
	if s.Access == plan.Empty {
		return "", ""
	}
	families := s.Families
	explicit := s.Fetch == plan.FetchColumns
	if s.Entries {
		families, explicit = nil, false
		for _, f := range s.Table.Families {
			families = append(families, f.Name)
		}
	}
	var kinds, whys, both []string
	for _, f := range s.Table.Families {
		declared := strings.ToUpper(f.Attributes["BLOOMFILTER"])
		read := slices.Contains(families, f.Name)
		if explicit {
			read = false
			for _, c := range s.Columns {
				read = read || c.Family == f.Name
			}
		}
		if declared == "" || !read {
			continue
		}
		k, y := usableBloom(s, declared, explicit)
		if !slices.Contains(kinds, k) {
			kinds, whys = append(kinds, k), append(whys, y)
		}
		both = append(both, f.Name+": "+k)
	}
	switch len(kinds) {
	case 0:
		return "", ""
	case 1:
		return kinds[0], whys[0]
	}
	return strings.Join(both, ", "), strings.Join(whys, "; ")
}

// usableBloom returns the kind of a family's Bloom filter if the reads of s can use it, or "none", and the reason. explicit
// reports whether the family is read by named columns only.
func usableBloom(s *plan.Scan, declared string, explicit bool) (kind, why string) {
	gets, _ := s.Counts()
	switch declared {
	case "ROW":
		if gets > 0 {
			return declared, "a Get skips the files that do not hold its key"
		}
		return "none", "the ROW filter serves Gets, not ranges"
	case "ROWCOL":
		if explicit {
			return declared, "files that do not hold a column of a row are skipped"
		}
		return "none", "the ROWCOL filter needs named columns only; rows that lack them are wanted too, unless WHERE asks for IS NOT NULL"
	case "ROWPREFIX_FIXED_LENGTH":
		shared := -1 // bytes that both ends of every range start with
		for _, sp := range s.Spans {
			if n := types.CommonPrefix(sp.Start, sp.Stop); !sp.Key && (shared < 0 || n < shared) {
				shared = n
			}
		}
		switch shared {
		case -1:
			return declared, "a Get skips the files that do not hold its key's prefix"
		case 0:
			return "none", "the prefix filter needs ranges whose ends share their first bytes"
		}
		return declared, fmt.Sprintf("files without a range's prefix are skipped, if the filter's prefixes have at most %d bytes", shared)
	}
	return "none", "the family has no Bloom filter"
}
