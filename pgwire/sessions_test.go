package pgwire_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hql-db/hql/pgwire"
)

// TestSessions runs the files of testdata/sessions, each in one session. Commands:
//
//	simple [write]           a Query message; what it gives, message by message
//	extended [args=(a,b)]    Parse, Bind, Describe, Execute, Sync with text arguments
//	extended hex args=(a,b)  the same with binary arguments, in hexadecimal digits
//	describe [name=q]        Parse and Describe
//	execute name=q           Bind, Execute, Sync of the statement that describe has named; rows as described
//	copyout, copyin          COPY, with the data behind its first line
//	other                    as simple, in a second session
//	connect [write]          begins a new session
func TestSessions(t *testing.T) {
	datadriven.Walk(t, "testdata/sessions", func(t *testing.T, path string) {
		db := openTables(t)
		_, readOnly := serve(t, db, pgwire.Options{})
		_, writable := serve(t, db, pgwire.Options{Write: true})
		var c *pgconn.PgConn
		var notices strings.Builder
		begin := func(addr string) {
			cfg, err := pgconn.ParseConfig("postgres://me@" + addr + "/db?sslmode=disable")
			if err != nil {
				t.Fatal(err)
			}
			cfg.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
				fmt.Fprintf(&notices, "%s %s: %s\n", n.Severity, n.Code, n.Message)
			}
			if c, err = pgconn.ConnectConfig(context.Background(), cfg); err != nil {
				t.Fatal(err)
			}
			one := c
			t.Cleanup(func() { one.Close(context.Background()) })
		}
		begin(readOnly)
		other := c
		begin(readOnly)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			notices.Reset()
			switch d.Cmd {
			case "connect":
				if d.HasArg("write") {
					begin(writable)
				} else {
					begin(readOnly)
				}
			case "simple", "other":
				of := c
				if d.Cmd == "other" {
					of = other
				}
				results := of.Exec(context.Background(), d.Input)
				for results.NextResult() {
					printResult(&out, results.ResultReader().Read())
				}
				printError(&out, results.Close())
			case "extended":
				var args [][]byte
				var formats []int16
				if d.HasArg("args") {
					for _, a := range d.CmdArgs {
						for _, v := range a.Vals {
							if v == "NULL" {
								args = append(args, nil)
							} else if b, err := hex.DecodeString(v); err == nil && d.HasArg("hex") {
								args, formats = append(args, b), []int16{1}
							} else {
								args = append(args, []byte(v))
							}
						}
					}
				}
				r := c.ExecParams(context.Background(), d.Input, args, nil, formats, nil).Read()
				printResult(&out, r)
				printError(&out, r.Err)
			case "copyout": // rows that COPY TO STDOUT sends
				tag, err := c.CopyTo(context.Background(), &out, d.Input)
				if err == nil {
					fmt.Fprintln(&out, tag)
				}
				printError(&out, err)
			case "copyin": // COPY FROM STDIN, and below it the data
				sql, data, _ := strings.Cut(d.Input, "\n")
				tag, err := c.CopyFrom(context.Background(), strings.NewReader(data+"\n"), sql)
				if err == nil {
					fmt.Fprintln(&out, tag)
				}
				printError(&out, err)
			case "describe":
				name := ""
				d.MaybeScanArgs(t, "name", &name)
				s, err := c.Prepare(context.Background(), name, d.Input, nil)
				if err != nil {
					printError(&out, err)
					break
				}
				fmt.Fprintf(&out, "parameters %v\n", s.ParamOIDs)
				printFields(&out, s.Fields)
			case "execute":
				var name string
				d.ScanArgs(t, "name", &name)
				r := c.ExecPrepared(context.Background(), name, nil, nil, nil).Read()
				for _, row := range r.Rows {
					fmt.Fprintf(&out, "%s\n", bytes.Join(row, []byte(" | ")))
				}
				printError(&out, r.Err)
			default:
				t.Fatalf("unknown command %s", d.Cmd)
			}
			fmt.Fprintf(&out, "%s%c\n", notices.String(), c.TxStatus())
			return out.String()
		})
	})
}

func printFields(out *strings.Builder, fields []pgconn.FieldDescription) {
	var names []string
	for _, f := range fields {
		names = append(names, fmt.Sprintf("%s %d", f.Name, f.DataTypeOID))
	}
	if names != nil {
		fmt.Fprintf(out, "[%s]\n", strings.Join(names, ", "))
	}
}

func printResult(out *strings.Builder, r *pgconn.Result) {
	printFields(out, r.FieldDescriptions)
	for _, row := range r.Rows {
		var values []string
		for _, v := range row {
			if v == nil {
				values = append(values, "NULL")
			} else {
				values = append(values, string(v))
			}
		}
		fmt.Fprintf(out, "%s\n", strings.Join(values, " | "))
	}
	if tag := r.CommandTag.String(); tag != "" {
		fmt.Fprintln(out, tag)
	}
}

func printError(out *strings.Builder, err error) {
	var e *pgconn.PgError
	switch {
	case err == nil:
	case errors.As(err, &e):
		fmt.Fprintf(out, "%s %s: %s", e.Severity, e.Code, e.Message)
		if e.Position > 0 {
			fmt.Fprintf(out, " (at %d)", e.Position)
		}
		if e.ColumnName != "" {
			fmt.Fprintf(out, "\ncolumn: %s.%s", e.TableName, e.ColumnName)
		}
		if e.Detail != "" {
			fmt.Fprintf(out, "\ndetail: %s", e.Detail)
		}
		if e.Routine != "" {
			fmt.Fprintf(out, "\nroutine: %s", e.Routine)
		}
		if e.Hint != "" {
			fmt.Fprintf(out, "\nhint: %s", e.Hint)
		}
		out.WriteString("\n")
	default:
		fmt.Fprintf(out, "%v\n", err)
	}
}
