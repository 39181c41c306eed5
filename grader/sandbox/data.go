package sandbox

import "encoding/binary"

// maxImage bounds the memory that mergeData fills, in bytes.
const maxImage = 16 << 20

// mergeData makes one piece of all pieces of data. Go's linker leaves out every
// run of zeros that is longer than a few bytes, and for each of 45,000 pieces the
// interpreter evaluates an address whenever an instance is made. Memory is zero where
// no piece lies, and of two pieces in one place the later one counts. A section that is
// not as Go's linker writes it, or covers too much, stays as it is.
func mergeData(body []byte) ([]byte, error) {
	pieces, err := readData(body)
	if err != nil || len(pieces) == 0 {
		return body, err
	}
	from, to := pieces[0].at, pieces[0].at
	for _, p := range pieces {
		from, to = min(from, p.at), max(to, p.at+uint64(len(p.data)))
	}
	if to-from > maxImage {
		return body, nil
	}
	image := make([]byte, to-from)
	for _, p := range pieces {
		copy(image[p.at-from:], p.data)
	}
	const active = 0
	out := append(make([]byte, 0, len(image)+16), 1, active, opI32Const)
	out = append(appendSigned(out, int64(int32(uint32(from)))), opEnd)
	return append(binary.AppendUvarint(out, uint64(len(image))), image...), nil
}

// dataPiece is what the data section puts into memory at an address.
type dataPiece struct {
	at   uint64
	data []byte
}

// readData is empty for a section that has other pieces than ones with an address.
func readData(body []byte) ([]dataPiece, error) {
	var pieces []dataPiece
	r := reader{b: body}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		if r.u32() != 0 {
			return nil, r.err
		}
		pieces = append(pieces, dataPiece{at: uint64(uint32(r.constant())), data: r.bytes()})
	}
	return pieces, r.err
}
