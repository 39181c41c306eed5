// Package build turns a submission into a WebAssembly program, or into
// findings that say why it cannot: first the policy check on the syntax tree,
// then Go's own compiler and linker.
//
// A failure of the candidate's is a []verdict.Finding, one of ours an error;
// never both.
//
// # Why the compiler and the linker are called directly
//
// Prepare compiles everything that a submission can import once, with the go
// command, and keeps the archives. A build then runs compile for the candidate's
// package, compile for a main package of three lines, and link. Against
// "go build" this saves the loading of some 200 packages and their hashes, keeps
// Go's build cache from growing with every submission, and cannot be broken by
// that cache being trimmed. Main is compiled each time because an archive
// records the fingerprint of what it imports; it imports the candidate's package and
// nothing else, which keeps that at 25 ms.
package build
