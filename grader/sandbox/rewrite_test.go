package sandbox

import (
	"context"
	"testing"

	"github.com/tetratelabs/wazero"
)

// tiny is a module with a custom section, a memory of one page, two globals and
// one export.
const tiny = "\x00asm\x01\x00\x00\x00" +
	"\x00\x04\x03abc" + // custom section "abc"
	"\x01\x04\x01\x60\x00\x00" + // type () → ()
	"\x03\x02\x01\x00" + // function 0 has type 0
	"\x05\x03\x01\x00\x01" + // memory
	"\x06\x0b\x02\x7f\x01\x41\x00\x0b\x7e\x01\x42\x07\x0b" + // globals i32 0, i64 7
	"\x07\x05\x01\x01f\x00\x00" + // export f
	"\x0a\x04\x01\x02\x00\x0b" + // its code
	"\x00\x05\x04name" // names, empty

func TestRewrite(t *testing.T) {
	t.Parallel()
	sections, err := split([]byte(tiny))
	if err != nil {
		t.Fatal(err)
	}
	wasm, l, err := rewrite(sections, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.globals != 2 || l.pages != 4 || len(l.cold) > 0 {
		t.Errorf("layout is %+v", l)
	}
	ctx := context.Background()
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter())
	defer rt.Close(ctx)
	m, err := rt.Instantiate(ctx, wasm)
	if err != nil {
		t.Fatal(err)
	}
	if n := m.Memory().Size() / pageSize; n != 4 {
		t.Errorf("the memory has %d pages, want 4", n)
	}
	for k, want := range []uint64{0, 7} {
		if g := m.ExportedGlobal(globalName(k)); g == nil || g.Get() != want {
			t.Errorf("global %d is %v, want %d", k, g, want)
		}
	}
	if m.ExportedFunction("f") == nil {
		t.Error("the module's own export is gone")
	}
}

// FuzzRewrite feeds anything: rewrite must not panic, and what it accepts must
// be accepted again with the same memory.
func FuzzRewrite(f *testing.F) {
	f.Add([]byte(tiny))
	for n := range len(tiny) {
		f.Add([]byte(tiny[:n]))
	}
	f.Add([]byte(wasmHeader + "\x06\xff\xff\xff\xff\x0f"))             // a section of 4 GiB
	f.Add([]byte(wasmHeader + "\x06\x05\xff\xff\xff\xff\x0f"))         // 4,294,967,295 globals
	f.Add([]byte(wasmHeader + "\x05\x07\x01\x00\xff\xff\xff\xff\x0f")) // as many pages
	f.Fuzz(func(t *testing.T, wasm []byte) {
		sections, err := split(wasm)
		if err != nil {
			return
		}
		out, l, err := rewrite(sections, 64, map[string]bool{"f": true})
		if err != nil {
			return
		}
		if len(l.cold) > 0 {
			if _, err := coldModule(sections, l.cold); err != nil {
				t.Error("cold module:", err)
			}
		}
		sections, err = split(out)
		if err != nil {
			t.Fatal(err)
		}
		_, again, err := rewrite(sections, 0, nil)
		if err != nil || again.globals != l.globals || again.pages != l.pages {
			t.Errorf("rewritten: %+v, again: %+v, %v", l, again, err)
		}
	})
}
