package sketch

func newWeighted(t int) sampler { return newClassic(t) }
