package sandbox

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// wasiModule is the name under which Go's standard library imports the system.
const wasiModule = "wasi_snapshot_preview1"

// errno is a result of a system function, in WASI's numbering.
type errno uint32

const (
	errnoSuccess errno = 0
	errnoBadf    errno = 8
	errnoFault   errno = 21
	errnoInval   errno = 28
)

// args are the arguments of a system function. The upper half of a 32-bit
// argument is undefined in wazero, hence u32.
type args []uint64

func (a args) u32(i int) uint32 { return uint32(a[i]) }

// system is one function that a guest may import from wasiModule.
type system struct {
	name   string
	params string // one letter per parameter: i for i32, l for i64
	run    func(*Instance, args) errno
}

// systems lists what Go's standard library imports on wasip1, all of it, with
// the exact parameters. A module that imports anything else is refused. There
// are no files and no sockets: what needs one gets EBADF.
func systems() []system {
	return []system{
		{"args_get", "ii", argsGet},
		{"args_sizes_get", "ii", argsSizesGet},
		{"clock_time_get", "ili", clockTimeGet},
		{"environ_get", "ii", succeed},
		{"environ_sizes_get", "ii", environSizesGet},
		{"fd_close", "i", standardOnly},
		{"fd_fdstat_get", "ii", fdstatGet},
		{"fd_fdstat_set_flags", "ii", standardOnly},
		{"fd_fdstat_set_rights", "ill", badf},
		{"fd_filestat_get", "ii", badf},
		{"fd_filestat_set_size", "il", badf},
		{"fd_pread", "iiili", badf},
		{"fd_prestat_dir_name", "iii", badf},
		{"fd_prestat_get", "ii", badf},
		{"fd_pwrite", "iiili", badf},
		{"fd_read", "iiii", fdRead},
		{"fd_readdir", "iiili", badf},
		{"fd_seek", "ilii", badf},
		{"fd_sync", "i", badf},
		{"fd_write", "iiii", fdWrite},
		{"path_create_directory", "iii", badf},
		{"path_filestat_get", "iiiii", badf},
		{"path_filestat_set_times", "iiiilli", badf},
		{"path_link", "iiiiiii", badf},
		{"path_open", "iiiiillii", badf},
		{"path_readlink", "iiiiii", badf},
		{"path_remove_directory", "iii", badf},
		{"path_rename", "iiiiii", badf},
		{"path_symlink", "iiiii", badf},
		{"path_unlink_file", "iii", badf},
		{"poll_oneoff", "iiii", pollOneoff},
		{"proc_exit", "i", procExit},
		{"random_get", "ii", randomGet},
		{"sched_yield", "", schedYield},
		{"sock_accept", "iii", badf},
		{"sock_shutdown", "ii", badf},
	}
}

func (s system) signature() (params, results []api.ValueType) {
	for _, c := range s.params {
		t := api.ValueTypeI32
		if c == 'l' {
			t = api.ValueTypeI64
		}
		params = append(params, t)
	}
	if s.name == "proc_exit" {
		return params, nil
	}
	return params, []api.ValueType{api.ValueTypeI32}
}

// instantiateSystem gives a runtime the functions of systems.
func instantiateSystem(ctx context.Context, rt wazero.Runtime) error {
	b := rt.NewHostModuleBuilder(wasiModule)
	for _, s := range systems() {
		params, results := s.signature()
		run := func(ctx context.Context, _ api.Module, stack []uint64) {
			stack[0] = uint64(s.run(running(ctx), args(stack)))
		}
		b = b.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(run), params, results).Export(s.name)
	}
	_, err := b.Instantiate(ctx)
	return err
}

func succeed(*Instance, args) errno { return errnoSuccess }
func badf(*Instance, args) errno    { return errnoBadf }

// standardOnly accepts the three standard streams and does nothing to them.
func standardOnly(_ *Instance, a args) errno {
	if a.u32(0) > 2 {
		return errnoBadf
	}
	return errnoSuccess
}

// programName is os.Args[0] of every guest, and the only argument.
const programName = "handler"

func argsSizesGet(i *Instance, a args) errno {
	return i.write32(a.u32(0), 1).then(i.write32(a.u32(1), uint32(len(programName)+1)))
}

func argsGet(i *Instance, a args) errno {
	if !i.memory().WriteString(a.u32(1), programName+"\x00") {
		return errnoFault
	}
	return i.write32(a.u32(0), a.u32(1))
}

func environSizesGet(i *Instance, a args) errno {
	return i.write32(a.u32(0), 0).then(i.write32(a.u32(1), 0))
}

// clockTimeGet gives the wall clock and the monotonic clock the same value.
func clockTimeGet(i *Instance, a args) errno {
	const realtime, monotonic = 0, 1
	if id := a.u32(0); id != realtime && id != monotonic {
		return errnoInval
	}
	return i.write64(a.u32(2), uint64(i.clock.read()))
}

func fdstatGet(i *Instance, a args) errno {
	const characterDevice = 2
	if a.u32(0) > 2 {
		return errnoBadf
	}
	stat := make([]byte, 24)
	stat[0] = characterDevice
	binary.LittleEndian.PutUint64(stat[8:], math.MaxUint64) // every right
	if !i.memory().Write(a.u32(1), stat) {
		return errnoFault
	}
	return errnoSuccess
}

// fdRead finds standard input at its end.
func fdRead(i *Instance, a args) errno {
	if a.u32(0) != 0 {
		return errnoBadf
	}
	return i.write32(a.u32(3), 0)
}

// maxVectors is as many buffers as Go passes to one write.
const maxVectors = 1024

func fdWrite(i *Instance, a args) errno {
	write, name := i.out.writeStdout, "standard output"
	switch a.u32(0) {
	case 1:
	case 2:
		write, name = i.out.writeStderr, "standard error"
	default:
		return errnoBadf
	}
	count := a.u32(2)
	if count > maxVectors {
		return errnoInval
	}
	vectors, ok := i.memory().Read(a.u32(1), count*8)
	if !ok {
		return errnoFault
	}
	total := uint32(0)
	for ; len(vectors) > 0; vectors = vectors[8:] {
		p, ok := i.memory().Read(binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:]))
		if !ok {
			return errnoFault
		}
		switch write(p) {
		case overflow:
			panic(&signal{reason: Output, text: name})
		case enough:
			panic(&signal{reason: Exit, code: runtimeStatus})
		case kept:
		}
		total += uint32(len(p))
	}
	return i.write32(a.u32(3), total)
}

func randomGet(i *Instance, a args) errno {
	p, ok := i.memory().Read(a.u32(0), a.u32(1))
	if !ok {
		return errnoFault
	}
	_, _ = i.random.Read(p) // documented to return no error
	return errnoSuccess
}

// schedYield costs time, so that a loop of yields that waits for a time ends.
func schedYield(i *Instance, _ args) errno {
	i.clock.read()
	return errnoSuccess
}

// procExit ends the guest without closing it: after a Restore it is as good as
// new, and cheaper than another instance.
func procExit(_ *Instance, a args) errno {
	panic(&signal{reason: Exit, code: a.u32(0)})
}

func (e errno) then(next errno) errno {
	if e != errnoSuccess {
		return e
	}
	return next
}

func (i *Instance) write32(address, v uint32) errno {
	if !i.memory().WriteUint32Le(address, v) {
		return errnoFault
	}
	return errnoSuccess
}

func (i *Instance) write64(address uint32, v uint64) errno {
	if !i.memory().WriteUint64Le(address, v) {
		return errnoFault
	}
	return errnoSuccess
}
