package payload

import (
	"bytes"
	"math/big"
	"strings"
)

// sameJSON tells whether two valid values are equal as RFC 6902 has it for a
// test: numbers by what they are worth, however large, strings by their text,
// objects whatever their order. Names that occur more than once must occur
// with the same values in the same order.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	kind := kindOf(a)
	if kind != kindOf(b) {
		return false
	}
	switch kind {
	case String:
		return unquote(a) == unquote(b)
	case Number:
		return sameNumber(string(a), string(b))
	case Array:
		return sameList(listOf(a), listOf(b))
	case Object:
		return sameObject(byName(a), byName(b))
	}
	return kind == Null || a[0] == b[0]
}

func listOf(array []byte) (list [][]byte) {
	elements(array, func(value []byte) bool {
		list = append(list, value)
		return true
	})
	return list
}

func byName(object []byte) map[string][][]byte {
	all := map[string][][]byte{}
	members(object, func(name, value []byte) bool {
		n := unquote(name)
		all[n] = append(all[n], value)
		return true
	})
	return all
}

func sameList(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameJSON(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameObject(a, b map[string][][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for name, values := range a {
		if !sameList(values, b[name]) {
			return false
		}
	}
	return true
}

// sameNumber compares two JSON numbers without ever rounding: 1e2 is 100.0,
// and 9007199254740993 is not 9007199254740992.
func sameNumber(a, b string) bool {
	signA, digitsA, powerA := decimal(a)
	signB, digitsB, powerB := decimal(b)
	return digitsA == digitsB && (digitsA == "" || signA == signB && powerA.Cmp(powerB) == 0)
}

// decimal takes a JSON number apart: its sign, its digits without zeros at
// either end, and the power of ten that they are multiplied by.
func decimal(number string) (negative bool, digits string, power *big.Int) {
	number, negative = strings.CutPrefix(number, "-")
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	power, ok := new(big.Int).SetString(strings.TrimPrefix(exponent, "+"), 10)
	if !ok {
		power = new(big.Int)
	}
	all := whole + fraction
	digits = strings.TrimRight(all, "0")
	power.Add(power, big.NewInt(int64(len(all)-len(digits)-len(fraction))))
	return negative, strings.TrimLeft(digits, "0"), power
}
