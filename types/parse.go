package types

import (
	"strconv"
	"strings"
)

var typesByName = map[string]Type{
	"BOOLEAN": Boolean, "BOOL": Boolean, "TINYINT": TinyInt, "SMALLINT": SmallInt, "INT2": SmallInt,
	"INT": Int, "INTEGER": Int, "INT4": Int, "BIGINT": BigInt, "INT8": BigInt, "LONG": BigInt,
	"FLOAT": Float, "REAL": Float, "FLOAT4": Float, "DOUBLE": Double, "DOUBLE PRECISION": Double, "FLOAT8": Double,
	"DECIMAL": Decimal, "NUMERIC": Decimal, "STRING": String, "VARCHAR": String, "CHAR": String, "TEXT": String,
	"CHARACTER": String, "CHARACTER VARYING": String, "BYTES": Bytes, "VARBINARY": Bytes, "BINARY": Bytes, "BLOB": Bytes, "BYTEA": Bytes,
	"DATE": Date, "TIME": Time, "TIME WITHOUT TIME ZONE": Time, "TIMESTAMP": Timestamp, "DATETIME": Timestamp, "TIMESTAMPTZ": Timestamp,
	"TIMESTAMP WITH TIME ZONE": Timestamp, "TIMESTAMP WITHOUT TIME ZONE": LocalTimestamp, "JSON": JSON, "JSONB": JSONB, "INTERVAL": Duration,
	"UUID": UUID, "OID": OID, "XID": OID, "CID": OID, "NAME": Name, `"CHAR"`: Char, "REGCLASS": RegClass, "REGTYPE": RegType, "REGPROC": RegProc, "REGPROCEDURE": RegProc,
	"REGNAMESPACE": RegNamespace, "INT2VECTOR": Int2Vector, "OIDVECTOR": OIDVector, "DEC": Decimal, "BPCHAR": String, "CHAR VARYING": String,
	"NCHAR": String, "NATIONAL CHARACTER": String, "NATIONAL CHAR": String, "NATIONAL CHARACTER VARYING": String, "NATIONAL CHAR VARYING": String, "NCHAR VARYING": String, "BINARY VARYING": Bytes,
}

// WrittenType returns the type that a statement means by name: FLOAT(25) to FLOAT(53) have the 64 bits of a DOUBLE. Definitions
// that were stored with such a name keep their columns of 32 bits, as ParseType says.
func WrittenType(name string) string {
	elem, brackets := name, ""
	if strings.HasSuffix(name, "[]") {
		elem, brackets = name[:len(name)-2], "[]"
	}
	if bits, ok := strings.CutPrefix(elem, "FLOAT("); ok {
		if n, err := strconv.Atoi(strings.TrimSuffix(bits, ")")); err == nil && n > 24 {
			return "DOUBLE" + brackets
		}
	}
	return name
}

// ParseType returns the type with a name in any of its usual spellings. It ignores a length in parentheses.
func ParseType(name string) (Type, bool) {
	name = strings.ToUpper(name)
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		t, ok := ParseType(elem)
		return ArrayOf(t), ok && t.Elem() == Null
	}
	if i := strings.IndexByte(name, '('); i >= 0 {
		name = strings.TrimSpace(name[:i]) + name[strings.LastIndexByte(name, ')')+1:]
	}
	t, ok := typesByName[name]
	if elem, array := strings.CutPrefix(name, "_"); array { // PostgreSQL's own name of an array type
		t, ok = typesByName[elem]
		t = ArrayOf(t)
	}
	return t, ok
}
