package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Section ids of the WebAssembly binary format, in the order of the format's
// specification. A count of data segments stands before the code.
const (
	sectionCustom    = 0
	sectionType      = 1
	sectionImport    = 2
	sectionFunction  = 3
	sectionMemory    = 5
	sectionGlobal    = 6
	sectionExport    = 7
	sectionStart     = 8
	sectionCode      = 10
	sectionData      = 11
	sectionDataCount = 12
)

// Opcodes of the instructions that are read or written here.
const (
	opEnd      = 0x0b
	opCall     = 0x10
	opLocalGet = 0x20
	opI32Const = 0x41
	opI64Const = 0x42
	opF32Const = 0x43
	opF64Const = 0x44
)

// Kinds of an import or export.
const (
	kindFunction = 0
	kindMemory   = 2
	kindGlobal   = 3
)

const (
	wasmHeader   = "\x00asm\x01\x00\x00\x00"
	maxGlobals   = 64 // Go uses 8
	globalPrefix = "__redeliver_global_"
)

var errTruncated = errors.New("the module is cut off or malformed")

// section is a part of a module.
type section struct {
	id   byte
	body []byte
}

// find returns the body of the only section with an id; without one, that of a section
// with nothing in it.
func find(sections []section, id byte) []byte {
	for _, s := range sections {
		if s.id == id {
			return s.body
		}
	}
	return []byte{0}
}

// split takes a wasm binary apart. The bodies are parts of it. Custom sections other than
// the function names go: the debug information is large and nobody reads it. The names
// appear in stack traces.
func split(wasm []byte) ([]section, error) {
	if len(wasm) < len(wasmHeader) || string(wasm[:len(wasmHeader)]) != wasmHeader {
		return nil, errors.New("not a WebAssembly module of version 1")
	}
	var sections []section
	seen := map[byte]bool{sectionCustom: false}
	for r := (reader{b: wasm[len(wasmHeader):]}); len(r.b) > 0; {
		id, body := r.section()
		if r.err != nil {
			return nil, r.err
		}
		if seen[id] {
			return nil, errors.New("the module has a section twice")
		}
		seen[id] = id != sectionCustom
		if id == sectionCustom && !isNameSection(body) {
			continue
		}
		sections = append(sections, section{id, body})
	}
	return sections, nil
}

// layout is what rewrite learned about a module.
type layout struct {
	globals int      // exported as globalName(0), globalName(1), …
	pages   uint32   // initial memory in pages of 64 KiB, the extra ones included
	cold    []uint32 // indexes of the functions that are not loaded, in order
}

func globalName(i int) string { return fmt.Sprintf("%s%d", globalPrefix, i) }

// rewrite makes the module that is loaded of a program's sections.
//
//   - Every global is exported: Go keeps the stack pointer, the current
//     goroutine and the return registers in globals that only the module sees,
//     and a memory snapshot without them is useless.
//   - The initial memory grows by extraPages. Go's runtime asks for the size
//     once, at start, and takes what is there as its own; so it grows the
//     memory later or never, and an instance that has grown cannot be restored.
//   - Functions that are called cold are left out (cold.go).
//   - Pieces of data that lie close together become one (data.go).
//
// It refuses a start function, which would run before an instance has a
// snapshot, and imports that are not functions.
func rewrite(sections []section, extraPages uint32, cold map[string]bool) ([]byte, layout, error) {
	var l layout
	out := []byte(wasmHeader)
	exported := false
	for _, s := range sections {
		body := s.body
		var err error
		switch s.id {
		case sectionStart:
			err = errors.New("the module has a start function")
		case sectionImport:
			err = checkImportKinds(body)
		case sectionMemory:
			body, l.pages, err = raiseMemory(body, extraPages)
		case sectionGlobal:
			l.globals, err = countGlobals(body)
		case sectionExport:
			body, err = exportState(body, l.globals)
			exported = true
		case sectionCode:
			body, l.cold, err = leaveOut(sections, cold)
		case sectionData:
			body, err = mergeData(body)
		}
		if err != nil {
			return nil, l, err
		}
		out = appendSection(out, s.id, body)
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

// exportState relies on the order of sections: the globals were counted before.
func exportState(body []byte, globals int) ([]byte, error) {
	r := reader{b: body}
	n := r.u32()
	if r.err != nil {
		return nil, r.err
	}
	out := binary.AppendUvarint(nil, uint64(n)+1+uint64(globals))
	out = append(out, r.b...)
	out = appendExport(out, exportMemory, kindMemory, 0)
	for i := range globals {
		out = appendExport(out, globalName(i), kindGlobal, uint32(i))
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

// signed reads a signed number in LEB128 of at most 64 bits.
func (r *reader) signed() int64 {
	var v int64
	for shift := 0; shift < 64; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift+7 < 64 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
	r.err = errTruncated
	return 0
}

// constant reads an expression that is one number, as Go's linker writes them. The
// result is 0 for one that is no int32 or int64.
func (r *reader) constant() int64 {
	var v int64
	switch r.byte() {
	case opI32Const, opI64Const:
		v = r.signed()
	case opF32Const:
		r.skip(4)
	case opF64Const:
		r.skip(8)
	default:
		r.err = errTruncated
	}
	if r.byte() != opEnd {
		r.err = errTruncated
	}
	return v
}

func (r *reader) skip(n int) {
	for range n {
		r.byte()
	}
}
