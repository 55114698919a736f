package sqlext

// PanicIn makes a function panic until the function it returns is called.
func PanicIn(name string) (restore func()) {
	for i := range functions {
		f := &functions[i]
		if f.name != name {
			continue
		}
		kept := *f
		switch {
		case f.scalar != nil:
			f.scalar = func(*conn, *frame) error { panic("on purpose") }
		case f.aggregate != nil:
			f.aggregate = func() aggregate { panic("on purpose") }
		default:
			f.table = func(*conn, []value, wanted) (source, error) { panic("on purpose") }
		}
		return func() { *f = kept }
	}
	panic("no function " + name)
}

// CancelAuto undoes Auto.
func CancelAuto() { cancelAuto() }

// SmallPairs makes alike_pairs sort in files and compare few pairs at a time,
// until the function it returns is called.
func SmallPairs() (restore func()) {
	memory, n := candidateMemory, together
	candidateMemory, together = 0, 7
	return func() { candidateMemory, together = memory, n }
}
