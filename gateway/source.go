package gateway

import _ "embed"

// Source is gateway.go, which the grader compiles into a submission's program
// under the same import path. This file is not part of that program.
//
//go:embed gateway.go
var Source string
