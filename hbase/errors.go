package hbase

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/tsuna/gohbase"
)

// Errors that callers distinguish.
var (
	// ErrNoTable: the HBase table does not exist.
	ErrNoTable = errors.New("no such HBase table")
	// ErrTableExists: CreateTable names an HBase table that exists.
	ErrTableExists = errors.New("the HBase table exists")
	// ErrDenied: the user lacks a permission, which the error names.
	ErrDenied = errors.New("not permitted (AccessDeniedException)")
	// ErrUnreachable: ZooKeeper or the cluster does not answer.
	ErrUnreachable = errors.New("the HBase cluster cannot be reached")
)

// class says how to handle a failed call.
type class uint8

const (
	fatal  class = iota // report it
	resume              // the scanner is gone: open it again after the last whole row
	retry               // wait and send it again
)

var (
	resumable = []string{"UnknownScannerException", "OutOfOrderScannerNextException", "LeaseException", "ScannerResetException"}
	retryable = []string{"RegionTooBusyException", "CallQueueTooBigException", "CallDroppedException", "PleaseHoldException", "RegionOpeningException",
		"NotServingRegionException", "RegionMovedException", "WrongRegionException", "RegionServerStoppedException", "RegionServerAbortedException",
		"ServerNotRunningYetException", "RpcThrottlingException", "CallTimeoutException", "RegionInRecoveryException", "MasterNotRunningException", "MasterStoppedException"}
)

// overloaded are the exceptions with which a server under load refuses a call. The region has not moved, and scanners
// stay open.
var overloaded = []string{"RegionTooBusyException", "CallQueueTooBigException", "CallDroppedException", "RpcThrottlingException"}

// scannerStays are the exceptions of a scanner call that leave the scanner open on the server.
var scannerStays = append([]string{"OutOfOrderScannerNextException"}, overloaded...)

// alwaysRefused are the exceptions that recur when the same mutation is sent again.
var alwaysRefused = []string{"NoSuchColumnFamilyException", "FailedSanityCheckException", "AccessDeniedException", "hbase.ipc.max.request.size"}

// busy reports whether a server refused a call because of its load.
func busy(err error) bool { return err != nil && isOneOf(err, overloaded) }

// outOfRange is the text of a FailedSanityCheckException for a row of a batch that is in another region now. For a call
// with one row, servers throw WrongRegionException instead.
const outOfRange = "Requested row out of range"

func classify(err error) class {
	switch {
	case isOneOf(err, resumable):
		return resume
	case isOneOf(err, retryable), foreign(err):
		return retry
	}
	return fatal
}

// foreign reports whether a server refused a mutation of a batch because its row is in another region.
func foreign(err error) bool {
	text := err.Error()
	return strings.Contains(text, "FailedSanityCheckException") && strings.Contains(text, outOfRange)
}

// isOneOf reports whether err is one of these Java exceptions.
func isOneOf(err error, classes []string) bool {
	text := err.Error()
	return slices.ContainsFunc(classes, func(c string) bool { return strings.Contains(text, c) })
}

var javaException = regexp.MustCompile(`(?s)HBase Java exception ([\w.$]+):\s*(.*)`)

// explain makes an error of gohbase readable: it removes the stack trace and names the table.
func explain(err error, doing, table string) error {
	switch {
	case errors.Is(err, gohbase.TableNotFound):
		return fmt.Errorf("%s: %w", table, ErrNoTable)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s %s: %w", doing, table, err)
	}
	if m := javaException.FindStringSubmatch(err.Error()); m != nil {
		name := m[1][strings.LastIndexByte(m[1], '.')+1:]
		first, _, _ := strings.Cut(strings.TrimSpace(m[2]), "\n")
		first = strings.TrimPrefix(first, m[1]+": ")
		switch {
		case name == "TableNotFoundException":
			return fmt.Errorf("%s: %w", table, ErrNoTable)
		case name == "TableExistsException":
			return fmt.Errorf("%s: %w", table, ErrTableExists)
		case name == "AccessDeniedException":
			return fmt.Errorf("%s %s: %w: %s", doing, table, ErrDenied, first)
		case strings.Contains(first, "region is read only"):
			return fmt.Errorf("%s %s: the HBase table is read-only (its attribute READONLY is true)", doing, table)
		case name == "NoSuchColumnFamilyException":
			first, _, _ = strings.Cut(first, " in region ") // the server appends the whole definition of the table
		}
		return fmt.Errorf("%s %s: %s: %s", doing, table, name, first)
	}
	return fmt.Errorf("%s %s: %w", doing, table, err)
}

// Error reports how many mutations were refused and how many have no answer, and names the first rows of each.
func (e *BatchError) Error() string {
	s := fmt.Sprintf("%d of %d mutations refused", len(e.Failed), len(e.Keys)) + e.name(slices.Sorted(maps.Keys(e.Failed)))
	if len(e.Unknown) > 0 {
		s += fmt.Sprintf(", %d without an answer", len(e.Unknown)) + e.name(slices.Sorted(slices.Values(e.Unknown)))
	}
	if len(e.Unmet) > 0 {
		s += fmt.Sprintf(", %d because their rows have changed since they were read", len(e.Unmet)) + e.name(slices.Sorted(slices.Values(e.Unmet)))
	}
	if e.Cause != nil {
		s += ": " + e.Cause.Error()
	}
	return s
}

// name returns the keys of the first few rows at these indexes.
func (e *BatchError) name(at []int) string {
	const most = 3
	var keys []string
	for _, i := range at[:min(len(at), most)] {
		keys = append(keys, fmt.Sprintf("%.64q", e.Keys[i]))
	}
	switch {
	case len(at) == 0:
		return ""
	case len(at) > most:
		keys = append(keys, "...")
	}
	return " (rows " + strings.Join(keys, ", ") + ")"
}

// Unwrap returns the first cause.
func (e *BatchError) Unwrap() error { return e.Cause }
