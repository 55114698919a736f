package sketch

// Exact is the profile whose sketch has every shingle of a document under p, 8 bytes
// each: two of these sketches compare as the documents do, which
// ExactResemblance tells from the texts, and one serves for any number of
// comparisons. It makes no features. A list that p leaves out is no part of it; its
// Sketcher takes the list from LeaveOut.
func (p Profile) Exact() Profile {
	p.Bag = p.Bag || p.Family == Weighted // whose weights are occurrences
	p.Family, p.Modulus, p.Size, p.Bits, p.Without = Mod, 1, 0, 64, 0
	p.T, p.K, p.S, p.R = 1, 1, 1, 1
	return p
}
