package store

import (
	"errors"
	"fmt"
)

// exception is an error that a server throws. Its text has the form of gohbase's error for it, "HBase Java exception
// CLASS:\nCLASS: MESSAGE": callers recognize exceptions by the class in that text.
type exception struct {
	class, msg string
	runtime    bool // a RuntimeException on the server: it fails the call as a whole
}

// Error returns gohbase's text of a server's exception.
func (e *exception) Error() string {
	return "HBase Java exception " + e.class + ":\n" + e.trace()
}

// trace returns the first line of the server's stack trace, "CLASS: MESSAGE".
func (e *exception) trace() string {
	if e.msg == "" {
		return e.class
	}
	return e.class + ": " + e.msg
}

// The classes of exceptions that the store throws.
const (
	classIO             = "java.io.IOException"
	classUnsupported    = "java.lang.UnsupportedOperationException"
	classDoNotRetry     = "org.apache.hadoop.hbase.DoNotRetryIOException"
	classNoFamily       = "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
	classWrongRegion    = "org.apache.hadoop.hbase.regionserver.WrongRegionException"
	classInsane         = "org.apache.hadoop.hbase.exceptions.FailedSanityCheckException"
	classNotServing     = "org.apache.hadoop.hbase.NotServingRegionException"
	classMoved          = "org.apache.hadoop.hbase.exceptions.RegionMovedException"
	classUnknownScanner = "org.apache.hadoop.hbase.UnknownScannerException"
	classOutOfOrder     = "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException"
	classScannerReset   = "org.apache.hadoop.hbase.exceptions.ScannerResetException"
	classLease          = "org.apache.hadoop.hbase.regionserver.LeaseException"
	classTooBusy        = "org.apache.hadoop.hbase.RegionTooBusyException"
	classThrottled      = "org.apache.hadoop.hbase.quotas.RpcThrottlingException"
	classTableExists    = "org.apache.hadoop.hbase.TableExistsException"
	classTableNotFound  = "org.apache.hadoop.hbase.TableNotFoundException"
	classNotDisabled    = "org.apache.hadoop.hbase.TableNotDisabledException"
	classNotEnabled     = "org.apache.hadoop.hbase.TableNotEnabledException"

	classCorrupt         = "org.apache.hadoop.hbase.io.hfile.CorruptHFileException"
	classUnknownProtocol = "org.apache.hadoop.hbase.exceptions.UnknownProtocolException"
)

func throw(class, format string, args ...any) *exception {
	return &exception{class: class, msg: fmt.Sprintf(format, args...)}
}

// illegalArgument makes the exception that a client receives for a RuntimeException on the server.
func illegalArgument(format string, args ...any) *exception {
	e := throw(classIO, format, args...)
	e.runtime = true
	return e
}

func isRuntime(err error) bool {
	var e *exception
	return errors.As(err, &e) && e.runtime
}

// isClass reports whether err is an exception of the given class.
func isClass(err error, class string) bool {
	var e *exception
	return errors.As(err, &e) && e.class == class
}
