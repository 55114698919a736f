package sketch

func newLean(t int) sampler { return newClassic(t) }
