package sandbox_test

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"redeliver/grader/sandbox"
)

// section, vector and name write WebAssembly's binary format.
func section(id byte, body ...[]byte) []byte {
	b := vector(body...)
	return append(binary.AppendUvarint([]byte{id}, uint64(len(b))), b...)
}

func vector(items ...[]byte) []byte {
	b := binary.AppendUvarint(nil, uint64(len(items)))
	for _, item := range items {
		b = append(b, item...)
	}
	return b
}

func name(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

func join(parts ...[]byte) (b []byte) {
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

// module is a small guest whose exports do nothing.
type module struct {
	imports [][]byte
	memory  []byte
	start   bool
	exports []string
	code    []byte // of all exports, before the end; empty: they return
}

func smallest() module {
	return module{memory: []byte{0, 1}, exports: []string{"_initialize", "handle", "drain"}}
}

// The types of a module: index 0 is () → (), 1 is (i32) → (i32).
func (m module) encode() []byte {
	const i32 = 0x7f
	function := byte(0)
	for _, i := range m.imports {
		if i[len(i)-2] == 0 { // kind: a function, which takes an index
			function++
		}
	}
	var exports [][]byte
	for _, e := range m.exports {
		exports = append(exports, join(name(e), []byte{0, function}))
	}
	parts := [][]byte{
		[]byte("\x00asm\x01\x00\x00\x00"),
		section(1, []byte{0x60, 0, 0}, []byte{0x60, 1, i32, 1, i32}),
	}
	if len(m.imports) > 0 {
		parts = append(parts, section(2, m.imports...))
	}
	parts = append(parts,
		section(3, []byte{0}),
		section(5, m.memory),
		section(6, []byte{i32, 1, 0x41, 0, 0x0b}),
		section(7, exports...))
	if m.start {
		parts = append(parts, []byte{8, 1, function})
	}
	body := join([]byte{0}, m.code, []byte{0x0b}) // no local variables
	return join(append(parts, section(10, join([]byte{byte(len(body))}, body)))...)
}

func function(module, field string, typ byte) []byte {
	return join(name(module), name(field), []byte{0, typ})
}

func TestLoad(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*module)
		want   string // part of the error; empty: loads
		is     error
	}{
		{"SmallestModule", func(*module) {}, "", nil},
		{"AllowedImport", func(m *module) { m.imports = [][]byte{function("wasi_snapshot_preview1", "fd_close", 1)} }, "", nil},
		{"UnknownModule", func(m *module) { m.imports = [][]byte{function("env", "system", 1)} }, "env.system", sandbox.ErrImport},
		{"UnknownFunction", func(m *module) { m.imports = [][]byte{function("wasi_snapshot_preview1", "sock_open", 1)} }, "wasi_snapshot_preview1.sock_open", sandbox.ErrImport},
		{"UnknownHostFunction", func(m *module) { m.imports = [][]byte{function("redeliver", "exec", 1)} }, "redeliver.exec", sandbox.ErrImport},
		{"WrongSignature", func(m *module) { m.imports = [][]byte{function("redeliver", "call", 1)} }, "redeliver.call with another signature", sandbox.ErrImport},
		{"ImportedMemory", func(m *module) { m.imports = [][]byte{join(name("env"), name("memory"), []byte{2, 0, 1})} }, "env.memory is not a function", sandbox.ErrImport},
		{"ImportedGlobal", func(m *module) { m.imports = [][]byte{join(name("env"), name("sp"), []byte{3, 0x7f, 1})} }, "env.sp is not a function", sandbox.ErrImport},
		{"StartFunction", func(m *module) { m.start = true }, "start function", nil},
		{"MemoryWithMaximum", func(m *module) { m.memory = []byte{1, 1, 2} }, "without a maximum", nil},
		{"NoDrain", func(m *module) { m.exports = m.exports[:2] }, "does not export drain", nil},
		{"NoHandle", func(m *module) { m.exports = []string{"_initialize", "drain"} }, "does not export handle", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := smallest()
			tt.change(&m)
			p, err := sandbox.Load(context.Background(), m.encode(), sandbox.Options{})
			if err == nil {
				err = p.Close(context.Background())
			} else if tt.want == "" {
				t.Fatal(err)
			}
			if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %v is not %v", err, tt.is)
			}
		})
	}
}

// TestTrap ends in what WebAssembly forbids; a Go program comes there only by
// way of a broken runtime.
func TestTrap(t *testing.T) {
	t.Parallel()
	for text, code := range map[string][]byte{
		"The package initialisation was stopped by WebAssembly: unreachable.":                 {0x00},
		"The package initialisation was stopped by WebAssembly: out of bounds memory access.": {0x41, 0x7f, 0x28, 0, 0, 0x1a},
	} {
		m := smallest()
		m.code = code
		p := load(t, m.encode(), patient)
		_, stop, err := p.Snapshot(context.Background(), sandbox.Identity{Name: "A"})
		if err != nil || stop == nil || stop.Reason != sandbox.Trap || stop.Text != text {
			t.Errorf("stop is %+v, error %v, want %q", stop, err, text)
		}
	}
}

// TestLoadCorruptModule cuts a module anywhere and flips each of its bits: the
// result may load or not, but nothing of it may panic.
func TestLoadCorruptModule(t *testing.T) {
	t.Parallel()
	whole := smallest().encode()
	try := func(wasm []byte) error {
		p, err := sandbox.Load(context.Background(), wasm, sandbox.Options{})
		if err != nil {
			return err
		}
		return p.Close(context.Background())
	}
	for n := range whole {
		if try(whole[:n]) == nil {
			t.Errorf("the first %d of %d bytes are a module", n, len(whole))
		}
	}
	for bit := range 8 * len(whole) {
		wasm := append([]byte(nil), whole...)
		wasm[bit/8] ^= 1 << (bit % 8)
		_ = try(wasm) // either is fine
	}
}
