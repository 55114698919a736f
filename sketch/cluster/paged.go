package cluster

import "encoding/binary"

// pagedWords is an array of 64-bit words that grows at its end and keeps at
// most a set number of pages in memory. While all fit there is no file.
type pagedWords struct {
	temp  tempDir
	mask  int // slots - 1
	slots []pageSlot
	n     int
	file  storage
	bytes []byte // one page, encoded
}

// pageSlot holds one of the pages whose number has its low bits.
type pageSlot struct {
	number int // plus 1; 0 is none
	dirty  bool
	words  []uint64
}

const (
	pageShift = 10
	pageWords = 1 << pageShift
	pageBytes = 8 * pageWords
)

func newPagedWords(temp tempDir, memory int) *pagedWords {
	slots := 1
	for 2*slots*pageBytes <= memory {
		slots *= 2
	}
	return &pagedWords{temp: temp, mask: slots - 1}
}

func (p *pagedWords) close() error {
	p.slots, p.bytes = nil, nil
	if p.file == nil {
		return nil
	}
	f := p.file
	p.file = nil
	return f.Close()
}

// at points to a word, valid until the next call. A word that will be changed
// needs write.
func (p *pagedWords) at(i int, write bool) (*uint64, error) {
	page := i >> pageShift
	if s := page & p.mask; s < len(p.slots) && p.slots[s].number == page+1 {
		slot := &p.slots[s]
		slot.dirty = slot.dirty || write
		return &slot.words[i%pageWords], nil
	}
	slot, err := p.load(page, false)
	if err != nil {
		return nil, err
	}
	slot.dirty = slot.dirty || write
	return &slot.words[i%pageWords], nil
}

func (p *pagedWords) get(i int) (uint64, error) {
	w, err := p.at(i, false)
	if err != nil {
		return 0, err
	}
	return *w, nil
}

func (p *pagedWords) set(i int, v uint64) error {
	w, err := p.at(i, true)
	if err != nil {
		return err
	}
	*w = v
	return nil
}

func (p *pagedWords) append(v uint64) error {
	if p.n%pageWords == 0 {
		if _, err := p.load(p.n>>pageShift, true); err != nil {
			return err
		}
	}
	p.n++
	return p.set(p.n-1, v)
}

// load brings a page into its slot and writes what was there. A fresh page is
// in no file yet.
func (p *pagedWords) load(page int, fresh bool) (*pageSlot, error) {
	s := page & p.mask
	for s >= len(p.slots) {
		p.slots = append(p.slots, pageSlot{})
	}
	slot := &p.slots[s]
	if slot.words == nil {
		slot.words = make([]uint64, pageWords)
	}
	if p.bytes == nil && (slot.dirty || !fresh) {
		p.bytes = make([]byte, pageBytes)
	}
	if slot.dirty {
		if p.file == nil {
			f, err := p.temp.new()
			if err != nil {
				return nil, err
			}
			p.file = f
		}
		for i, w := range slot.words {
			binary.LittleEndian.PutUint64(p.bytes[8*i:], w)
		}
		if err := p.temp.write(p.file, p.bytes, int64(slot.number-1)*pageBytes); err != nil {
			return nil, err
		}
		slot.dirty = false
	}
	slot.number = 0 // also if reading fails halfway
	if fresh {
		clear(slot.words)
	} else {
		if err := p.temp.read(p.file, p.bytes, int64(page)*pageBytes); err != nil {
			return nil, err
		}
		for i := range slot.words {
			slot.words[i] = binary.LittleEndian.Uint64(p.bytes[8*i:])
		}
	}
	slot.number = page + 1
	return slot, nil
}
