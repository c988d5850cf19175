package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hql-db/hql/catalog"
	"github.com/hql-db/hql/check"
	"github.com/hql-db/hql/parser"
	"github.com/hql-db/hql/types"
)

type nothing struct{}

type tableName struct {
	Table string `json:"table" jsonschema:"the name of a table or view"`
}

type statement struct {
	SQL string `json:"sql" jsonschema:"one statement, without parameters"`
}

// listed is the answer of list_tables.
type listed struct {
	Tables []listedTable `json:"tables"`
	Limits string        `json:"limits"`
}

type listedTable struct {
	Name string   `json:"name"`
	Kind string   `json:"kind"`          // table or view
	Key  []string `json:"key,omitempty"` // the parts of the rowkey, from the left
}

func (s *server) listTables(ctx context.Context, _ nothing) (listed, error) {
	if err := s.follow(ctx); err != nil {
		return listed{}, err
	}
	out := listed{Tables: []listedTable{}, Limits: s.String()}
	for _, t := range s.db.Tables() {
		out.Tables = append(out.Tables, listedTable{t.Name, "table", t.Layouts[0].Key.Sources()})
	}
	for _, v := range s.db.Views() {
		out.Tables = append(out.Tables, listedTable{Name: v.Name, Kind: "view"})
	}
	return out, nil
}

// follow loads new definitions from the store into the catalog: every statement does so, and SHOW TABLES is the cheapest.
func (s *server) follow(ctx context.Context) error {
	rows, err := s.db.Query(ctx, "SHOW TABLES", s.limits())
	if err != nil {
		return err
	}
	return rows.Close()
}

// described is the answer of describe_table.
type described struct {
	Definition string     `json:"definition"`
	Key        []string   `json:"key"`               // in words, a part each
	ToHit      string     `json:"to_hit,omitempty"`  // the condition that binds the start of the rowkey
	Example    *answer    `json:"example,omitempty"` // one row; none for a view
	Statistics [][]string `json:"statistics,omitempty"`
	Limits     string     `json:"limits"`
}

func (s *server) describe(ctx context.Context, in tableName) (described, error) {
	if err := s.follow(ctx); err != nil {
		return described{}, err
	}
	out := described{Key: []string{}, Limits: s.String()}
	name := parser.QuoteName(in.Table)
	if v, ok := s.db.Catalog().View(in.Table); ok {
		out.Definition = v.Def.String()
		return out, nil
	}
	t, err := s.db.Catalog().TableAt(in.Table, parser.NoPos)
	if err != nil {
		return out, err
	}
	out.Definition = t.Def.String()
	for _, p := range t.Layouts[0].Key.Parts {
		out.Key = append(out.Key, inWords(p))
	}
	for _, r := range check.New(s.db.Catalog()).Statement(ctx, "SELECT * FROM "+name).Reads {
		out.ToHit = r.Advice
	}
	example, err := s.rows(ctx, "SELECT _key, * FROM "+name+" LIMIT 1")
	if err != nil {
		return out, err
	}
	out.Example = &example
	rows, err := s.db.Query(ctx, "SHOW STATISTICS "+name, s.limits())
	if err != nil {
		return out, nil // there are none
	}
	defer rows.Close()
	for rows.Next() {
		var line []string
		for _, v := range rows.Raw() {
			line = append(line, v.String())
		}
		out.Statistics = append(out.Statistics, line)
	}
	return out, rows.Err()
}

// inWords describes a part of a key.
func inWords(p *catalog.Part) string {
	switch width := p.Width(); {
	case p.Literal != nil:
		return fmt.Sprintf("%s: the same in every key", p.Source)
	case width == catalog.Variable:
		return fmt.Sprintf("%s: of any length", p.Source)
	default:
		return fmt.Sprintf("%s: %d bytes", p.Source, width)
	}
}

// explained is the answer of explain.
type explained struct {
	HitsPrefix bool     `json:"hits_prefix"`
	Plan       string   `json:"plan"`
	Warnings   []string `json:"warnings,omitempty"`
	Limits     string   `json:"limits"`
}

func (s *server) explain(ctx context.Context, in statement) (explained, error) {
	p, err := s.db.Explain(ctx, in.SQL)
	if err != nil {
		return explained{}, err
	}
	return explained{p.HitsPrefix(), s.short(p.String()), p.Warnings, s.String()}, nil
}

// answer is the answer of query.
type answer struct {
	Columns  []string `json:"columns"`
	Rows     [][]any  `json:"rows"`
	Cut      string   `json:"cut,omitempty"` // why there may be more rows, or longer values
	Warnings []string `json:"warnings,omitempty"`
	RowsRead int64    `json:"rows_read"`
	Limits   string   `json:"limits"`
}

func (s *server) query(ctx context.Context, in statement) (answer, error) {
	if _, err := s.readable(in.SQL); err != nil {
		return answer{}, err
	}
	return s.rows(ctx, in.SQL)
}

// rows runs a query and collects rows until the answer has MaxRows rows or MaxBytes bytes.
func (s *server) rows(ctx context.Context, sql string) (answer, error) {
	out := answer{Columns: []string{}, Rows: [][]any{}, Limits: s.String()}
	rows, err := s.db.Query(ctx, sql, s.limits())
	if err != nil {
		return out, err
	}
	defer rows.Close()
	out.Columns = append(out.Columns, rows.Columns()...)
	left := s.MaxBytes
	for rows.Next() {
		if len(out.Rows) == s.MaxRows {
			out.Cut = fmt.Sprintf("there are more rows than %d, which the operator allows: add conditions, or aggregate", s.MaxRows)
			break
		}
		row, size := []any{}, 0
		for _, v := range rows.Raw() {
			if size += len(v.Text()); size > s.MaxBytes {
				break // long values are cut before they are written as JSON
			}
			b := asJSON(v)
			row, size = append(row, b), size-len(v.Text())+len(b)
		}
		if size > left && len(out.Rows) > 0 {
			out.Cut = fmt.Sprintf("there are more rows than fit into %d bytes, which the operator allows: select fewer columns or rows", s.MaxBytes)
			break
		}
		if size > left {
			out.Cut = fmt.Sprintf("values are cut: the row is longer than %d bytes, which the operator allows", s.MaxBytes)
			row = cut(rows.Raw(), s.MaxBytes)
		}
		left -= size
		out.Rows = append(out.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return out, err
	}
	out.Warnings, out.RowsRead = rows.Warnings(), rows.Stats().RowsRead
	return out, nil
}

// asJSON returns a value as JSON. It returns a JSON string if the value's own JSON text is not valid.
func asJSON(v types.Value) json.RawMessage {
	if b := v.AppendJSON(nil); json.Valid(b) {
		return b
	}
	b, _ := json.Marshal(strings.ToValidUTF8(v.String(), "\uFFFD")) // a string has no error
	return b
}

// cut returns a row whose long values are shortened, so that the row has about the given number of bytes.
func cut(row []types.Value, bytes int) []any {
	out := []any{}
	most := bytes / (2 * len(row))
	for _, v := range row {
		if len(v.Text()) <= most {
			if b := asJSON(v); len(b) <= most {
				out = append(out, b)
				continue
			}
		}
		text := v.Text()
		if !v.Type().IsText() || len(text) <= most {
			text = v.String()
		}
		for n := min(most, len(text)); ; n /= 2 { // an escaped character takes up to six bytes
			b, _ := json.Marshal(strings.ToValidUTF8(text[:n], "") + "...")
			if len(b) <= most+5 || n == 0 {
				out = append(out, json.RawMessage(b))
				break
			}
		}
	}
	return out
}

// inferred is the answer of infer.
type inferred struct {
	Definitions string `json:"definitions"`
	Limits      string `json:"limits"`
}

type hbaseTable struct {
	Table string `json:"table" jsonschema:"the name of an HBase table"`
}

func (s *server) infer(ctx context.Context, in hbaseTable) (inferred, error) {
	var b strings.Builder
	if err := s.Infer(ctx, in.Table, &b); err != nil {
		return inferred{}, err
	}
	return inferred{s.short(b.String()), s.String()}, nil
}

const definitionURI = "hql://definitions/"

// addDefinitions adds the definitions of tables and views as resources.
func (s *server) addDefinitions(to *mcp.Server) {
	read := func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		name, err := url.PathUnescape(strings.TrimPrefix(req.Params.URI, definitionURI))
		if err != nil {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		if err := s.follow(ctx); err != nil {
			return nil, err
		}
		text := ""
		if t, ok := s.db.Catalog().Table(name); ok {
			text = t.Def.String()
		} else if v, ok := s.db.Catalog().View(name); ok {
			text = v.Def.String()
		} else {
			return nil, mcp.ResourceNotFoundError(req.Params.URI)
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "application/sql", Text: text + ";\n"}}}, nil
	}
	to.AddResourceTemplate(&mcp.ResourceTemplate{Name: "definition", Description: "the definition of a table or view", MIMEType: "application/sql",
		URITemplate: definitionURI + "{name}"}, read)
	for _, t := range s.db.Tables() {
		to.AddResource(&mcp.Resource{Name: t.Name, MIMEType: "application/sql", URI: definitionURI + url.PathEscape(t.Name)}, read)
	}
	for _, v := range s.db.Views() {
		to.AddResource(&mcp.Resource{Name: v.Name, MIMEType: "application/sql", URI: definitionURI + url.PathEscape(v.Name)}, read)
	}
}
