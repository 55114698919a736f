// Package splitmix is the one source of every constant in package sketch and
// below it.
package splitmix

// New returns the generator splitmix64 of Steele, Lea and Flood.
func New(seed uint64) func() uint64 {
	return func() uint64 {
		seed += 0x9e3779b97f4a7c15
		z := seed
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
}
