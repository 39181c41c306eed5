package sandbox

import (
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/sys"
)

// Two thirds of a program are functions that hardly any submission calls: parts of
// the runtime and of the standard library that the linker cannot leave out. The
// interpreter takes in every one before the first call, so a program is split. In
// the module that is loaded, a cold function only hands its argument on:
//
//	func cold(pcB int32) int32 { return redeliver.call(opCold, index, pcB, 0, 0) }
//
// With the first such call the whole program is loaded as a second module. It has
// no memory and no globals of its own but uses those of the first, where Go keeps all
// of its state: stacks of goroutines, heap, stack pointer. A function does in it
// what it would do in the first, and so does everything that it calls, until it returns
// or unwinds because its goroutine waits. What a program does therefore does not
// depend on what is called cold, only the time that it takes to load.
//
// Go compiles every function to one type, from the place in the function at which to
// go on (PC_B) to whether the stack is to be unwound (cmd/internal/obj/wasm in Go's
// source). The few that the runtime writes by hand with other types stay as they are.

// coldNames are the names of cold functions, as the linker writes them, one a
// line. TestColdFunctions of package grader makes the file.
//
//go:embed cold.txt
var coldNames string

var defaultCold = sync.OnceValue(func() map[string]bool {
	cold := map[string]bool{}
	for name := range strings.Lines(coldNames) {
		cold[strings.TrimSpace(name)] = true
	}
	return cold
})

// opCold is the operation of a cold function. It is none of package abi's: Host
// never sees it.
const opCold = 0x636f6c64

// programModule is what the second module imports memory and globals from: the
// instance of the first.
const (
	programModule = "redeliver_program"
	exportMemory  = "__redeliver_memory"
	coldPrefix    = "__redeliver_cold_"
)

func coldExport(index uint32) string { return fmt.Sprintf("%s%d", coldPrefix, index) }

// coldFunctions finds the functions of a program whose names are cold, by their
// index, in order; those that are imported come first. It is empty for a module without
// names. A name may be unknown: new versions of Go have new functions, which are loaded.
func coldFunctions(sections []section, imported uint32, cold map[string]bool) (functions []uint32, err error) {
	usual, err := usualTypes(find(sections, sectionType))
	if err != nil {
		return nil, err
	}
	types, err := vector(find(sections, sectionFunction))
	if err != nil {
		return nil, err
	}
	err = eachName(sections, func(index uint32, name string) {
		own := int64(index) - int64(imported)
		if cold[name] && own >= 0 && own < int64(len(types)) && usual[types[own]] {
			functions = append(functions, index)
		}
	})
	slices.Sort(functions)
	return slices.Compact(functions), err
}

// usualTypes are the indexes of func(int32) int32.
func usualTypes(body []byte) (map[uint32]bool, error) {
	const i32 = string(api.ValueTypeI32)
	r, usual := reader{b: body}, map[uint32]bool{}
	n := r.u32()
	for k := uint32(0); k < n && r.err == nil; k++ {
		form, params, results := r.byte(), string(r.bytes()), string(r.bytes())
		usual[k] = form == 0x60 && params == i32 && results == i32
	}
	return usual, r.err
}

// findHostCall returns the number of imported functions and which of them is
// redeliver.call, or -1.
func findHostCall(body []byte) (imported uint32, host int64, err error) {
	r := reader{b: body}
	host = -1
	imported = r.u32()
	for k := uint32(0); k < imported && r.err == nil; k++ {
		if module, name := string(r.bytes()), string(r.bytes()); module == hostModule && name == hostFunction {
			host = int64(k)
		}
		r.byte() // its kind: checkImportKinds
		r.u32()
	}
	return imported, host, r.err
}

// vector reads a vector of numbers.
func vector(body []byte) ([]uint32, error) {
	r := reader{b: body}
	n := r.u32()
	if uint64(n) > uint64(len(r.b)) {
		return nil, errTruncated
	}
	v := make([]uint32, n)
	for k := range v {
		v[k] = r.u32()
	}
	return v, r.err
}

// functionNames is the part of the name section that is about functions.
const functionNames = 1

// eachName calls visit with what the name section says of functions.
func eachName(sections []section, visit func(index uint32, name string)) error {
	for _, s := range sections {
		if s.id != sectionCustom {
			continue
		}
		r := reader{b: s.body}
		r.bytes() // "name"
		for len(r.b) > 0 && r.err == nil {
			kind, names := r.byte(), reader{b: r.bytes()}
			if kind != functionNames || r.err != nil {
				continue
			}
			for n := names.u32(); n > 0 && names.err == nil; n-- {
				if index, name := names.u32(), names.bytes(); names.err == nil {
					visit(index, string(name))
				}
			}
			if names.err != nil {
				return names.err
			}
		}
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// leaveOut is the code section without the bodies of cold functions, and which
// they are: none in a module without host calls.
func leaveOut(sections []section, names map[string]bool) (code []byte, cold []uint32, err error) {
	code = find(sections, sectionCode)
	imported, host, err := findHostCall(find(sections, sectionImport))
	if err != nil || host < 0 {
		return code, nil, err
	}
	if cold, err = coldFunctions(sections, imported, names); err != nil || len(cold) == 0 {
		return code, nil, err
	}
	left, r := cold, reader{b: code}
	n := r.u32()
	out := binary.AppendUvarint(make([]byte, 0, len(code)), uint64(n))
	for k := uint32(0); k < n && r.err == nil; k++ {
		body := r.bytes()
		if len(left) > 0 && left[0] == imported+k {
			body, left = coldBody(uint32(host), left[0]), left[1:]
		}
		out = append(binary.AppendUvarint(out, uint64(len(body))), body...)
	}
	return out, cold, r.err
}

func coldBody(host, index uint32) []byte {
	b := []byte{0} // no variables
	b = appendSigned(append(b, opI32Const), opCold)
	b = appendSigned(append(b, opI32Const), int64(int32(index)))
	b = append(b, opLocalGet, 0, opI32Const, 0, opI32Const, 0)
	b = binary.AppendUvarint(append(b, opCall), uint64(host))
	return append(b, opEnd)
}

// appendSigned appends a signed number in LEB128, as WebAssembly writes it.
func appendSigned(b []byte, v int64) []byte {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if v == 0 && low&0x40 == 0 || v == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}

// coldModule makes the second module: the program with the first one's memory and
// globals, and its cold functions as exports.
func coldModule(sections []section, cold []uint32) ([]byte, error) {
	out := []byte(wasmHeader)
	for _, s := range sections {
		var err error
		switch s.id {
		case sectionMemory, sectionGlobal, sectionData, sectionDataCount:
			continue
		case sectionImport:
			s.body, err = importState(s.body, find(sections, sectionGlobal))
		case sectionExport:
			s.body = binary.AppendUvarint(nil, uint64(len(cold)))
			for _, index := range cold {
				s.body = appendExport(s.body, coldExport(index), kindFunction, index)
			}
		}
		if err != nil {
			return nil, err
		}
		out = appendSection(out, s.id, s.body)
	}
	return out, nil
}

// importState adds memory and globals to the imports. Functions, memories and globals
// are counted separately, so no index changes.
func importState(imports, globals []byte) ([]byte, error) {
	r := reader{b: imports}
	n := r.u32()
	types, err := globalTypes(globals)
	if err != nil || r.err != nil {
		return nil, errors.Join(r.err, err)
	}
	out := binary.AppendUvarint(nil, uint64(n)+1+uint64(len(types)))
	out = append(out, r.b...)
	out = append(appendNames(out, programModule, exportMemory), kindMemory, 0, 0) // without a maximum, of any size
	for k, t := range types {
		out = append(appendNames(out, programModule, globalName(k)), kindGlobal, t[0], t[1])
	}
	return out, nil
}

// globalTypes reads the type of each global: its value's and whether it may change.
func globalTypes(body []byte) (types [][2]byte, err error) {
	r := reader{b: body}
	for n := r.u32(); n > 0 && r.err == nil; n-- {
		types = append(types, [2]byte{r.byte(), r.byte()})
		r.constant()
	}
	return types, r.err
}

func appendNames(out []byte, names ...string) []byte {
	for _, name := range names {
		out = append(binary.AppendUvarint(out, uint64(len(name))), name...)
	}
	return out
}

func appendExport(out []byte, name string, kind byte, index uint32) []byte {
	return binary.AppendUvarint(append(appendNames(out, name), kind), uint64(index))
}

// wholeProgram loads the second module, once.
func (p *Program) wholeProgram(ctx context.Context) (wazero.CompiledModule, error) {
	p.coldMu.Lock()
	defer p.coldMu.Unlock()
	if p.whole != nil {
		return p.whole, nil
	}
	wasm, err := coldModule(p.sections, p.layout.cold)
	if err != nil {
		return nil, err
	}
	p.whole, err = p.runtime.CompileModule(ctx, wasm)
	if err == nil {
		p.sections = nil
	}
	return p.whole, err
}

// coldInstance is the second module of an instance.
type coldInstance struct {
	module    api.Module
	functions map[uint32]api.Function // those that were called
	inside    bool                    // one of them is being called
}

// coldCall is a call of a cold function by the guest.
func (i *Instance) coldCall(ctx context.Context, index, pcB uint32) uint32 {
	if _, ok := slices.BinarySearch(i.program.layout.cold, index); !ok || i.cold != nil && i.cold.inside {
		panic(&signal{reason: Protocol, text: "made a call that does not exist"})
	}
	if i.cold == nil {
		i.loadCold(ctx)
	}
	c := i.cold
	f := c.functions[index]
	if f == nil {
		f = c.module.ExportedFunction(coldExport(index))
		c.functions[index] = f
	}
	c.inside = true
	defer func() { c.inside = false }()
	results, err := f.Call(ctx, uint64(pcB))
	if err != nil {
		panic(err) // unwinds the first module as it has unwound the second
	}
	return uint32(results[0])
}

// loadCold takes no time of the guest's. While the budget stands still, the watchdog
// does not look at the instance either; if it has done so just before, it has closed
// the first module only, and will not come again.
func (i *Instance) loadCold(ctx context.Context) {
	i.rest()
	defer i.compute()
	if i.budget.exhausted() {
		panic(sys.NewExitError(interrupted))
	}
	m, err := i.instantiateCold(ctx)
	if err != nil {
		panic(&signal{reason: Broken, text: fmt.Sprintf("load the whole program: %v", err)})
	}
	i.cold = &coldInstance{module: m, functions: map[uint32]api.Function{}}
}

func (i *Instance) instantiateCold(ctx context.Context) (api.Module, error) {
	whole, err := i.program.wholeProgram(ctx)
	if err != nil {
		return nil, err
	}
	ctx = experimental.WithImportResolver(ctx, func(name string) api.Module {
		if name == programModule {
			return i.module
		}
		return nil
	})
	return i.program.anonymous(ctx, whole)
}
