// Package sandbox runs a submission: a Go program compiled for wasip1 with
// -buildmode=c-shared, executed by wazero's interpreter. It is the only
// importer of wazero, so this folder is the whole door between a submission and
// the machine.
//
// What a guest can reach is the table of functions in wasi.go and one more,
// redeliver.call (hostcall.go). There is no file, socket, environment or real
// clock behind them: time and randomness are ours, so that a run is a function
// of program, identity and schedule.
//
// A Program is loaded once per submission. A Snapshot is taken once per
// identity (process "A", its restart "A2", …) after the package initialisation;
// an Instance is one process, put into a snapshot's state by Restore in about a
// millisecond. A schedule drives instances through Handle and Drain, whose host
// calls may park for as long as another instance runs.
//
// How a call ended is a Stop, never an error: errors mean that we failed.
package sandbox
