package redis

import (
	"context"
	"crypto/sha1" //nolint:gosec // Redis names scripts by it
	"encoding/hex"
)

// Scripter is what runs scripts: a client or a pipeline.
type Scripter interface {
	Eval(ctx context.Context, script string, keys []string, args ...interface{}) *Cmd
	EvalSha(ctx context.Context, sha1 string, keys []string, args ...interface{}) *Cmd
}

// Script is a Lua script.
type Script struct{ src, hash string }

// NewScript returns a script; nothing is sent.
func NewScript(src string) *Script {
	sum := sha1.Sum([]byte(src)) //nolint:gosec // Redis names scripts by it
	return &Script{src, hex.EncodeToString(sum[:])}
}

// Hash is the name of the script at the server.
func (s *Script) Hash() string { return s.hash }

// Eval sends the script and runs it.
func (s *Script) Eval(ctx context.Context, c Scripter, keys []string, args ...interface{}) *Cmd {
	return c.Eval(ctx, s.src, keys, args...)
}

// EvalSha runs the script by its name.
func (s *Script) EvalSha(ctx context.Context, c Scripter, keys []string, args ...interface{}) *Cmd {
	return c.EvalSha(ctx, s.hash, keys, args...)
}

// Run runs the script by its name, and sends it when the server does not know
// it.
func (s *Script) Run(ctx context.Context, c Scripter, keys []string, args ...interface{}) *Cmd {
	cmd := s.EvalSha(ctx, c, keys, args...)
	if HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
		return s.Eval(ctx, c, keys, args...)
	}
	return cmd
}
