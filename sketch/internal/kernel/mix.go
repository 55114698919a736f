package kernel

// Mix is a permutation of the 64-bit numbers that is not linear: multiply,
// fold, multiply, fold. The families that look at chosen bits of a value
// rather than at its order need it (see the note on truncation in doc.go).
func Mix(x uint64) uint64 { return MixRound(x, 0) }

const (
	mixFirst  = 0x9fb21c651e98df25
	mixSecond = 0xd6e8feb86659fd93
	mixStep   = 0x9e3779b97f4a7c16 // even: every round's multiplier is odd
)

// MixRound is another such permutation for each round.
func MixRound(x uint64, round int) uint64 { return mixBy(x, mixMultiplier(round)) }

func mixMultiplier(round int) uint64 { return mixFirst + uint64(round)*mixStep }

func mixBy(x, multiplier uint64) uint64 {
	return Fold(x * multiplier)
}

// Fold carries the high bits of a product into the low ones.
func Fold(h uint64) uint64 {
	h ^= h >> 32
	h *= mixSecond
	return h ^ h>>29
}

// Cut keeps b bits of a minimum. Minima are small numbers and neighbours share
// their high bits, so the bits are taken after a multiplication that carries
// every bit into the highest ones. Fewer bits are a prefix of more.
func Cut(m uint64, b int) uint64 { return m * cutMultiplier >> (64 - b) }

const cutMultiplier = 0x9e3779b97f4a7c15
