package sketch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A document of the stream elements is a set in JSON: an array of its elements, or an
// object that gives each element its weight. An element is a string, taken as its UTF-8,
// or a number, taken as its exact decimal value: 1e2, 100.0 and "100" are one element.
// null is no element, and a weight of null is none. Of a name that an object has twice
// the last weight counts.

// maxDigits bounds what a number of a set is written out to.
const maxDigits = 1000

// stopElements is how many elements are taken between two calls of stop.
const stopElements = 1 << 14

// A set is a document of the stream elements.
type set struct {
	elements []string  // of an object in the order of their bytes
	weights  []float64 // nil for an array
}

func readSet(doc []byte) (s set, err error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var value any
	if err = d.Decode(&value); err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("there is text after the value")
		}
	}
	if err == io.EOF {
		err = fmt.Errorf("it is empty")
	}
	if err != nil {
		return set{}, fmt.Errorf("sketch: a set is an array or an object of JSON: %w", err)
	}
	switch value := value.(type) {
	case []any:
		for i, e := range value {
			element, err := elementOf(e)
			if err != nil {
				return set{}, fmt.Errorf("sketch: element %d of the set %w", i+1, err)
			}
			if e != nil {
				s.elements = append(s.elements, element)
			}
		}
	case map[string]any:
		s.weights = []float64{}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if value[name] == nil {
				continue
			}
			number, ok := value[name].(json.Number)
			if !ok {
				return set{}, fmt.Errorf("sketch: the weight of the element %.60q is %s, want a number", name, kindOf(value[name]))
			}
			weight, err := number.Float64()
			if err != nil || weight < 0 {
				return set{}, fmt.Errorf("sketch: the weight of the element %.60q is %.60s, want a number of at least 0", name, number)
			}
			if weight > 0 {
				s.elements, s.weights = append(s.elements, name), append(s.weights, weight)
			}
		}
	default:
		return set{}, fmt.Errorf("sketch: a set is an array or an object of JSON, this is %s", kindOf(value))
	}
	return s, nil
}

// kindOf names what a value of JSON is.
func kindOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(value)
	case json.Number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "an array"
	}
	return "an object"
}

func elementOf(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "", nil
	case string:
		return value, nil
	case json.Number:
		return decimal(string(value))
	}
	return "", fmt.Errorf("is %s, want a string or a number", kindOf(value))
}

// decimal writes a number of JSON without an exponent, and without zeros that say nothing.
func decimal(number string) (string, error) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			shift = 2 * maxDigits
		}
	}
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	point := len(whole) + shift
	digits := strings.TrimRight(whole+fraction, "0")
	point -= len(digits)
	digits = strings.TrimLeft(digits, "0")
	point += len(digits)
	if digits == "" {
		return "0", nil
	}
	if max(len(digits), point, len(digits)-point) > maxDigits {
		return "", fmt.Errorf("is %.60s, which has more than %d digits", number, maxDigits)
	}
	switch {
	case point <= 0:
		digits = "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		digits += strings.Repeat("0", point-len(digits))
	default:
		digits = digits[:point] + "." + digits[point:]
	}
	if negative {
		digits = "-" + digits
	}
	return digits, nil
}

// addSet takes a set.
func (s *Sketcher) addSet(doc []byte, stop func() error) error {
	set, err := readSet(doc)
	if err != nil {
		return err
	}
	for i, element := range set.elements {
		if set.weights == nil {
			s.AddElement([]byte(element))
		} else if err := s.AddWeighted([]byte(element), set.weights[i]); err != nil {
			return fmt.Errorf("%w (the element %.60q)", err, element)
		}
		if stop != nil && (i+1)%stopElements == 0 {
			if err := stop(); err != nil {
				return err
			}
		}
	}
	return nil
}

// measures returns how much there is of each element, as resemblance under the profile
// counts it.
func (s *set) measures(p Profile) map[string]float64 {
	counts := make(map[string]float64)
	for i, element := range s.elements {
		switch {
		case s.weights != nil:
			counts[element] = s.weights[i]
		case p.Bag || p.Family == Weighted:
			counts[element]++
		default:
			counts[element] = 1
		}
	}
	return counts
}

// CheckDocument returns why a document cannot be read under a profile: under the stream
// elements it is a set in JSON. Any bytes are a document of every other stream.
func CheckDocument(p Profile, doc []byte) error {
	if p.Stream != Elements {
		return nil
	}
	_, err := readSet(doc)
	return err
}
