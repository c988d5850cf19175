package pgwire

import (
	"context"
	_ "embed" // states.txt
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/hql-db/hql"
	"github.com/hql-db/hql/parser"
)

// Error is a failure as clients see it.
type Error struct {
	Severity string // ERROR, or FATAL where the connection ends
	Code     string // SQLSTATE
	Message  string
	Detail   string
	Hint     string
	Position int                  // in characters from 1; 0: not known
	Row      *hql.ConstraintError // that broke NOT NULL, a CHECK or the key; nil: other errors
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

func (e *Error) detail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// failure makes the error of a statement.
func failure(code, format string, args ...any) *Error {
	return &Error{Severity: "ERROR", Code: code, Message: fmt.Sprintf(format, args...)}
}

// fatal makes the error that ends a connection.
func fatal(code, format string, args ...any) *Error {
	e := failure(code, format, args...)
	e.Severity = "FATAL"
	return e
}

// Why statements end before their end.
var (
	errCanceled = failure("57014", "canceling statement due to user request")
	errTimeout  = failure("57014", "canceling statement due to statement timeout")
	errShutdown = fatal("57P01", "terminating connection due to administrator command")
	errGone     = goneError{errors.New("the client is gone")}

	// The columns of a prepared statement have changed since hql told the client of them: drivers find this error by its routine
	// and prepare the statement again.
	errChanged = failure("0A000", "cached plan must not change result type")
)

// asError returns err as clients see it. The failed statement begins at offset in the text whole.
func asError(err error, whole string, offset int) *Error {
	if own, ok := errors.AsType[*Error](err); ok {
		return own
	}
	out := &Error{Severity: "ERROR", Code: "XX000", Message: err.Error()}
	var (
		placed *hql.Error
		scan   *hql.FullScanError
		limit  *hql.ScanLimitError
	)
	switch {
	case errors.As(err, &scan):
		out.Code = "54000"
		out.Message, out.Hint = cutAdvice(scan.Error())
	case errors.As(err, &limit):
		out.Code = "54000"
		out.Message, out.Hint = cutAdvice(limit.Error())
	case errors.As(err, &placed):
		out.Message, out.Hint, out.Code = placed.Msg, placed.Hint, stateOf(placed)
		if errors.As(err, &out.Row) && out.Row.Row != "" {
			out.Detail = "Failing row contains (" + out.Row.Row + ")."
		} else if out.Row != nil && out.Row.Key != "" {
			out.Detail = "Key " + out.Row.Key + " already exists."
		}
		if placed.Pos >= 0 {
			if at := offset + int(placed.Pos); at <= len(whole) {
				out.Position = utf8.RuneCountInString(whole[:at]) + 1
			}
		}
	default:
		out.Code = stateOfOther(err)
	}
	return out
}

// SQLState returns the SQLSTATE with which a client of hql serve gets err, an error of a statement.
func SQLState(err error) string { return asError(err, "", 0).Code }

// cutAdvice splits the text of a refused scan into message and hint. It leaves out flags of the command line, which a client
// cannot set.
func cutAdvice(text string) (message, hint string) {
	message, hint, _ = strings.Cut(text, "; ")
	for _, flag := range []string{", or --full-scan allow", ", or --max-scan-rows", ", or --max-scan-bytes"} {
		hint = strings.ReplaceAll(hint, flag, "")
	}
	return message, hint
}

// stateOfOther returns the SQLSTATE of an error that has no position in the statement.
func stateOfOther(err error) string {
	for _, s := range []struct {
		is   error
		code string
	}{
		{hql.ErrReadOnly, "25006"}, {hql.ErrNoFiles, "42501"}, {hql.ErrMemoryLimit, "53200"}, {hql.ErrUnreachable, "58000"},
		{hql.ErrClosed, "57P01"}, {context.DeadlineExceeded, "57014"}, {context.Canceled, "57014"},
	} {
		if errors.Is(err, s.is) {
			return s.code
		}
	}
	return stateByWords(err.Error(), "XX000")
}

// stateOf returns the SQLSTATE of an error that has a position in a statement.
func stateOf(e *hql.Error) string {
	var broken *hql.ConstraintError
	switch {
	case errors.Is(e, hql.ErrUnknownTable):
		return "42P01"
	case errors.Is(e, hql.ErrUnknownColumn):
		return "42703"
	case errors.Is(e, hql.ErrReadOnly):
		return "25006"
	case errors.As(e, &broken) && broken.Key != "":
		return "23505"
	case errors.As(e, &broken) && broken.Constraint != "":
		return "23514"
	case errors.Is(e, hql.ErrNoFiles):
		return "42501"
	case errors.Is(e, parser.ErrUnsupported):
		return "0A000"
	}
	return stateByWords(e.Msg, "42601")
}

// statesText has on each line a SQLSTATE, a space, and words of messages with that state; the first line that fits a message
// counts. A star stands between words with others between them. Lines with # are headings.
//
//go:embed states.txt
var statesText string

// noSuchTime finds a date or time of day that is written well and does not exist.
var noSuchTime = regexp.MustCompile(`invalid (date|time|timestamp) "(\d{4}-\d\d?-\d\d?|\d\d?:\d\d)\b`)

// stateByWords returns the SQLSTATE that fits words in a message, or else otherwise.
func stateByWords(message, otherwise string) string {
	if strings.HasPrefix(message, "expected ") { // a syntax error, which lists words of the grammar
		return otherwise
	}
	if noSuchTime.MatchString(message) {
		return "22008"
	}
	for line := range strings.Lines(statesText) {
		code, words, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		first, second, _ := strings.Cut(words, "*")
		if _, rest, ok := strings.Cut(message, first); ok && code != "#" && strings.Contains(rest, second) {
			return code
		}
	}
	return otherwise
}

// message returns e as the protocol's message.
func (e *Error) message() *pgproto3.ErrorResponse {
	out := &pgproto3.ErrorResponse{Severity: e.Severity, SeverityUnlocalized: e.Severity, Code: e.Code, Message: clean(e.Message),
		Detail: clean(e.Detail), Hint: clean(e.Hint), Position: int32(e.Position)}
	if e == errChanged {
		out.Routine = "RevalidateCachedQuery"
	}
	if e.Row != nil {
		out.SchemaName, out.TableName = "public", e.Row.Table
		if schema, table, ok := strings.Cut(e.Row.Table, ":"); ok {
			out.SchemaName, out.TableName = schema, table
		}
		out.ColumnName, out.ConstraintName = e.Row.Column, e.Row.Constraint
	}
	return out
}

// clean returns s as a text for the protocol. Such a text ends with a zero byte, so it must contain none.
func clean(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD") }

// notice sends a notice, unless the client has turned off notices of this severity.
func (c *conn) notice(severity, code, text, hint string) error {
	level := c.setting("client_min_messages")
	if level == "error" || level == "warning" && severity != "WARNING" {
		return nil
	}
	return c.send(&pgproto3.NoticeResponse{Severity: severity, SeverityUnlocalized: severity, Code: code, Message: clean(text), Hint: clean(hint)})
}
