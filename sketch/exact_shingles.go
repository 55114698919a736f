package sketch

// Exact is the profile whose sketch has every shingle of a document under p, 8 bytes
// each: two of these sketches compare as the documents do, which
// ExactResemblance tells from the texts, and one serves for any number of
// comparisons. It makes no features.
func (p Profile) Exact() Profile {
	p.Bag = p.Bag || p.Family == Weighted // whose weights are occurrences
	p.Family, p.Modulus, p.Size, p.Bits = Mod, 1, 0, 64
	p.T, p.K, p.S, p.R = 1, 1, 1, 1
	return p
}
