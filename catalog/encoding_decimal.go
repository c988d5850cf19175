package catalog

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"github.com/hql-db/hql/types"
)

// bigDecimal is BIGDECIMAL: the scale in four bytes, then the unscaled number in two's complement with as few bytes as
// possible, both big-endian, as Bytes.toBytes(java.math.BigDecimal) writes them. Equal numbers of different scales have
// different bytes.
type bigDecimal struct{ *traits }

// Alphabet returns 0x00: any byte can be part of a number, and 0x00 is the first byte of nearly every one.
func (bigDecimal) Alphabet() string { return "\x00" }

func (bigDecimal) Append(dst []byte, v types.Value) ([]byte, error) {
	d := v.Decimal()
	if d.Form != apd.Finite || d.Exponent == math.MinInt32 {
		return dst, errors.New("its scale needs more than 32 bits")
	}
	n := d.Coeff.MathBigInt()
	if d.Negative {
		n.Neg(n)
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(-d.Exponent)), twosComplement(n)...), nil
}

func (bigDecimal) Decode(src []byte) (types.Value, error) {
	const mostScale, mostBytes = 6144, 416 // as types.ParseDecimal: 1000 digits
	if len(src) < 5 || len(src) > 4+mostBytes {
		return types.Value{}, errWidth
	}
	scale := int32(binary.BigEndian.Uint32(src))
	if scale < -mostScale || scale > mostScale {
		return types.Value{}, errors.New("its scale is out of range")
	}
	b := src[4:]
	if len(b) > 1 && (b[0] == 0 && b[1] < 0x80 || b[0] == 0xff && b[1] >= 0x80) {
		return types.Value{}, errors.New("the number is not in its shortest form")
	}
	n := new(big.Int).SetBytes(b)
	if b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return types.NewDecimal(apd.NewWithBigInt(new(apd.BigInt).SetMathBigInt(n), -scale)), nil
}

// twosComplement returns the bytes of Java's BigInteger.toByteArray.
func twosComplement(n *big.Int) []byte {
	m := n
	if n.Sign() < 0 {
		m = new(big.Int).Not(n) // has the same number of significant bits
	}
	b := m.FillBytes(make([]byte, m.BitLen()/8+1))
	if n.Sign() < 0 {
		for i := range b {
			b[i] = ^b[i]
		}
	}
	return b
}
