package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Section ids of the WebAssembly binary format, in the order of the format's
// specification.
const (
	sectionCustom = 0
	sectionImport = 2
	sectionMemory = 5
	sectionGlobal = 6
	sectionExport = 7
	sectionStart  = 8
)

// Kinds of an import or export.
const (
	kindFunction = 0
	kindGlobal   = 3
)

const (
	wasmHeader   = "\x00asm\x01\x00\x00\x00"
	maxGlobals   = 64 // Go uses 8
	globalPrefix = "__redeliver_global_"
)

var errTruncated = errors.New("the module is cut off or malformed")

// layout is what rewrite learned about a module.
type layout struct {
	globals int    // exported as globalName(0), globalName(1), …
	pages   uint32 // initial memory in pages of 64 KiB, the extra ones included
}

func globalName(i int) string { return fmt.Sprintf("%s%d", globalPrefix, i) }

// rewrite makes one pass over the sections of a wasm binary.
//
//   - Every global is exported: Go keeps the stack pointer, the current
//     goroutine and the return registers in globals that only the module sees,
//     and a memory snapshot without them is useless.
//   - The initial memory grows by extraPages. Go's runtime asks for the size
//     once, at start, and takes what is there as its own; so it grows the
//     memory later or never, and an instance that has grown cannot be restored.
//   - Custom sections other than the function names go: the debug information
//     is large and nobody reads it. The names appear in stack traces.
//
// It refuses a start function, which would run before an instance has a
// snapshot, and imports that are not functions.
func rewrite(wasm []byte, extraPages uint32) ([]byte, layout, error) {
	var l layout
	if len(wasm) < len(wasmHeader) || string(wasm[:len(wasmHeader)]) != wasmHeader {
		return nil, l, errors.New("not a WebAssembly module of version 1")
	}
	out := make([]byte, 0, len(wasm)+1024)
	out = append(out, wasmHeader...)
	exported := false
	for r := (reader{b: wasm[len(wasmHeader):]}); len(r.b) > 0; {
		id, body := r.section()
		if r.err != nil {
			return nil, l, r.err
		}
		var err error
		switch id {
		case sectionCustom:
			if !isNameSection(body) {
				continue
			}
		case sectionStart:
			err = errors.New("the module has a start function")
		case sectionImport:
			err = checkImportKinds(body)
		case sectionMemory:
			body, l.pages, err = raiseMemory(body, extraPages)
		case sectionGlobal:
			l.globals, err = countGlobals(body)
		case sectionExport:
			body, err = exportGlobals(body, l.globals)
			exported = true
		}
		if err != nil {
			return nil, l, err
		}
		out = appendSection(out, id, body)
	}
	if !exported || l.globals == 0 || l.pages == 0 {
		return nil, l, errors.New("the module lacks a memory, globals or exports")
	}
	return out, l, nil
}

func appendSection(out []byte, id byte, body []byte) []byte {
	out = binary.AppendUvarint(append(out, id), uint64(len(body)))
	return append(out, body...)
}

func isNameSection(body []byte) bool {
	r := reader{b: body}
	return string(r.bytes()) == "name" && r.err == nil
}

func checkImportKinds(body []byte) error {
	r := reader{b: body}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		module, name := r.bytes(), r.bytes()
		if kind := r.byte(); kind != kindFunction && r.err == nil {
			return fmt.Errorf("%w: %s.%s is not a function", ErrImport, module, name)
		}
		r.u32() // index of its type
	}
	return r.err
}

// raiseMemory accepts what Go's linker writes: one memory without a maximum.
func raiseMemory(body []byte, extra uint32) ([]byte, uint32, error) {
	r := reader{b: body}
	count, flags, pages := r.u32(), r.byte(), r.u32()
	switch {
	case r.err != nil:
		return nil, 0, r.err
	case count != 1 || flags != 0:
		return nil, 0, errors.New("the module must have one memory without a maximum")
	case pages > math.MaxUint16+1:
		return nil, 0, errors.New("the module's memory is larger than 4 GiB")
	}
	pages += extra
	return binary.AppendUvarint([]byte{1, 0}, uint64(pages)), pages, nil
}

func countGlobals(body []byte) (int, error) {
	r := reader{b: body}
	n := r.u32()
	if r.err == nil && n > maxGlobals {
		return 0, fmt.Errorf("the module has %d globals, more than %d", n, maxGlobals)
	}
	return int(n), r.err
}

// exportGlobals relies on the order of sections: the globals were counted before.
func exportGlobals(body []byte, globals int) ([]byte, error) {
	r := reader{b: body}
	n := r.u32()
	if r.err != nil {
		return nil, r.err
	}
	out := binary.AppendUvarint(nil, uint64(n)+uint64(globals))
	out = append(out, r.b...)
	for i := range globals {
		name := globalName(i)
		out = binary.AppendUvarint(out, uint64(len(name)))
		out = append(out, name...)
		out = binary.AppendUvarint(append(out, kindGlobal), uint64(i))
	}
	return out, nil
}

// reader takes values off the front of b. The first malformed value sets err;
// from then on every method returns zero.
type reader struct {
	b   []byte
	err error
}

func (r *reader) byte() byte {
	if r.err != nil || len(r.b) == 0 {
		r.err = errTruncated
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) u32() uint32 {
	v, n := binary.Uvarint(r.b)
	if r.err != nil || n <= 0 || v > math.MaxUint32 {
		r.err = errTruncated
		return 0
	}
	r.b = r.b[n:]
	return uint32(v)
}

// bytes reads a length and as many bytes.
func (r *reader) bytes() []byte {
	n := r.u32()
	if r.err != nil || uint64(n) > uint64(len(r.b)) {
		r.err = errTruncated
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) section() (byte, []byte) { return r.byte(), r.bytes() }
