package access

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/expr"
	"github.com/hql-db/hql/expr/solve"
	"github.com/hql-db/hql/filter"
	"github.com/hql-db/hql/internal/words"
	"github.com/hql-db/hql/planner/plan"
	"github.com/hql-db/hql/types"
)

// keyFilter returns a filter by which the servers compare the key parts after the free ones (see tailHop), if they
// cannot seek. It returns nil if the start of the compared parts cannot be found in a key. It records in the Fates
// which predicates the filter implies.
//
//	ROW KEY (host AS TEXT, X'00', ts AS INT64), ts BETWEEN 5 AND 9      \A.*?\x00 and eight bytes from 00..05 to 00..09
func (c *candidate) keyFilter() filter.Filter {
	hop, uses := c.tails(true)
	if c.scan.Access == plan.Empty || c.scan.Access == plan.Get || hop == nil || hop.Ended || len(hop.Tails) > plan.MaxPatterns {
		return nil
	}
	before, ok := c.between(0, hop.Parts)
	if !ok {
		return nil
	}
	if !c.compared(only(boundBy(uses[hop.Parts:])), "the servers compare this part of keys") {
		return nil
	}
	var tails, ranges []string
	for _, t := range hop.Tails {
		pattern := bytesFrom(t.Start, t.Stop)
		if t.Key {
			pattern = quoteBytes(t.Start) + `\z`
		}
		tails, ranges = append(tails, pattern), append(ranges, t.Bounds())
	}
	free := words.Join(c.scan.Layout.Key.Parts[:hop.Parts], ", ", func(p *catalog.Part) string { return p.Source })
	return filter.KeyRegex{Pattern: `\A` + before + "(?:" + strings.Join(tails, "|") + ")", Text: fmt.Sprintf("KEY BEHIND %s IN %s", free, strings.Join(ranges, " "))}
}

// likeFilters returns filters by which the servers compare texts in keys with the LIKE patterns of conditions that only
// the client checks (solve.Matched). They may keep more keys.
//
//	ROW KEY (REVERSE(phone) AS TEXT(11), i AS INT32), phone LIKE '1310%'      \A.*0131[\x00 ]*.{4}\z
func (c *candidate) likeFilters() (found filter.And) {
	if c.scan.Access == plan.Empty || c.scan.Access == plan.Get || c.scan.Table.MalformedKeyError {
		return nil
	}
	parts := c.scan.Layout.Key.Parts
	c.compared(func(e expr.Expr) bool {
		x, patterns, forms := solve.Matched(e)
		if len(patterns) == 0 || x.Type() != types.String {
			return false
		}
		for n, p := range parts {
			before, known := c.between(0, n)
			if !known || p.Nullable() || !p.HoldsText() {
				continue
			}
			var ways []string
			for _, q := range patterns {
				if of, ok := solve.LikeImage(p.Expr, x, q); ok {
					ways = append(ways, of.Regex(forms))
				}
			}
			if len(ways) < len(patterns) {
				continue
			}
			pattern := `\A` + before + group(ways)
			if after, ok := c.between(n+1, len(parts)); ok {
				pattern += `[\x00 ]*` + after + `\z` // the part may be filled to its width
			}
			found = append(found, filter.KeyRegex{Pattern: pattern, Text: fmt.Sprintf("KEY: %s", e)})
			return true
		}
		return false
	}, "the servers compare this part of keys")
	return found
}

// typeFilter returns a filter by which the servers compare the last literal of the key that tells record types apart: no
// part of varying width ends with it, and it is no delimiter. It returns nil if the spans bind the literal, or if its place
// in a key is unknown.
//
//	ROW KEY (customer AS TEXT(10), '2', order_no AS TEXT)      \A.{10}2
func (c *candidate) typeFilter() filter.Filter {
	parts := c.scan.Layout.Key.Parts
	for i := len(parts) - 1; i > 0; i-- {
		if l := parts[i].Literal; l == nil || parts[i-1].Width() == catalog.Variable || bytes.ContainsAny(l[:1], "\x00|-_:.,;/#~!@$%&*+= ") || l[0] == 0xff {
			continue
		}
		pattern, ok := c.between(0, i+1)
		if !ok || c.scan.Table.MalformedKeyError || !slices.ContainsFunc(c.spans, func(s keySpan) bool { return !s.Key && s.begun <= i }) {
			return nil
		}
		return filter.KeyRegex{Pattern: `\A` + pattern, Text: "KEY HAS " + parts[i].Source}
	}
	return nil
}

// between returns a pattern for the bytes of the key's parts from number from to before n; ok is false if their end
// cannot be found.
func (c *candidate) between(from, n int) (pattern string, ok bool) {
	k := c.scan.Layout.Key
	var b strings.Builder
	for i := from; i < n; i++ {
		p := k.Parts[i]
		switch w := p.Width(); {
		case p.Literal != nil:
			b.WriteString(quoteBytes(p.Literal))
		case p.Nullable() || k.MayLack(i) || w > 1000: // Go's regexp refuses to repeat more
			return "", false
		case w != catalog.Variable:
			fmt.Fprintf(&b, ".{%d}", w)
		case i+1 < n && p.Ends() == k.Parts[i+1] && len(p.Ends().Literal) == 1:
			end := int(p.Ends().Literal[0])
			b.WriteString(strings.ReplaceAll(class(0, end-1)+class(end+1, 255)+"*", "][", ""))
		case i+1 < n && k.Parts[i+1].Literal != nil || n == len(k.Parts) && i+1 == n:
			b.WriteString(".*?")
		default:
			return "", false
		}
	}
	return b.String(), true
}

// compared changes the Fate of predicates that only the client checks to ByBoth, with the reason why, if about returns
// true for them. It reports whether it changed any.
func (c *candidate) compared(about func(expr.Expr) bool, why string) (some bool) {
	k := 0
	for i := range c.fates {
		f := &c.fates[i]
		if f.By == plan.ByKey {
			continue
		}
		if f.By == plan.ByClient && about(c.residual[k]) {
			f.By, f.Why, some = plan.ByBoth, why, true
		}
		k++
	}
	return some
}

// only returns a function that reports whether an expression has columns, and no other ones than cols.
func only(cols map[int]bool) func(expr.Expr) bool {
	return func(e expr.Expr) bool {
		used := expr.Columns(e)
		return len(used) > 0 && !slices.ContainsFunc(used, func(col int) bool { return !cols[col] })
	}
}

// bytesFrom returns a pattern for keys from start to before stop; an empty stop means no upper bound.
func bytesFrom(start, stop []byte) string {
	n := 0
	for n < len(start) && n < len(stop) && start[n] == stop[n] {
		n++
	}
	head, lo, hi := quoteBytes(start[:n]), start[n:], stop[n:]
	if len(hi) == 0 {
		return head + notBelow(lo)
	}
	var ways []string
	from := 0
	if len(lo) == 0 {
		ways = append(ways, `\z`)
	} else {
		from = int(lo[0]) + 1
		ways = append(ways, quoteBytes(lo[:1])+notBelow(lo[1:]))
	}
	if between := class(from, int(hi[0])-1); between != "" {
		ways = append(ways, between)
	}
	if below := below(hi[1:]); below != "" {
		ways = append(ways, quoteBytes(hi[:1])+below)
	}
	return head + group(ways)
}

// notBelow returns a pattern for bytes that begin with b or sort after it.
func notBelow(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	ways := []string{quoteBytes(b[:1]) + notBelow(b[1:])}
	if above := class(int(b[0])+1, 255); above != "" {
		ways = append(ways, above)
	}
	return group(ways)
}

// below returns a pattern for bytes that sort before b; "" if there are none.
func below(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	ways := []string{`\z`}
	if less := class(0, int(b[0])-1); less != "" {
		ways = append(ways, less)
	}
	if rest := below(b[1:]); rest != "" {
		ways = append(ways, quoteBytes(b[:1])+rest)
	}
	return group(ways)
}

func group(ways []string) string { return "(?:" + strings.Join(ways, "|") + ")" }

// class returns a pattern for one byte from lo to hi; "" if there is none.
func class(lo, hi int) string {
	if lo > hi {
		return ""
	}
	return fmt.Sprintf(`[\x%02x-\x%02x]`, lo, hi)
}

func quoteBytes(b []byte) string {
	var s strings.Builder
	for _, c := range b {
		fmt.Fprintf(&s, `\x%02x`, c)
	}
	return s.String()
}
