package redis

import (
	"context"
	"errors"
	"fmt"

	"redeliver/grader/guest/abi"
	"redeliver/grader/guest/redis/proto"
)

// RoundTrip sends a request to the server and returns its reply. An error says
// that the request was not sent.
type RoundTrip func(ctx context.Context, req abi.RedisRequest) (abi.RedisReply, error)

// Client is a client of one Redis server.
type Client struct {
	cmdable
	send RoundTrip
}

// New returns a client whose commands travel through send.
func New(send RoundTrip) *Client {
	c := &Client{send: send}
	c.cmdable = c.Process
	return c
}

// Process sends a command and fills in its reply.
func (c *Client) Process(ctx context.Context, cmd Cmder) error {
	return c.exec(ctx, false, []Cmder{cmd})
}

// Pipeline returns a pipeline, whose commands are sent together by Exec.
func (c *Client) Pipeline() Pipeliner { return newPipeline(c, false) }

// TxPipeline returns a pipeline whose commands are wrapped in MULTI and EXEC.
func (c *Client) TxPipeline() Pipeliner { return newPipeline(c, true) }

// Pipelined calls fn with a new pipeline and executes it, unless fn fails.
func (c *Client) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.Pipeline().Pipelined(ctx, fn)
}

// TxPipelined is Pipelined with a pipeline in MULTI and EXEC.
func (c *Client) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return c.TxPipeline().Pipelined(ctx, fn)
}

// exec sends commands in one round trip and returns the error of the first one
// that failed, or of a transaction that was not executed.
func (c *Client) exec(ctx context.Context, tx bool, cmds []Cmder) error {
	fail := func(err error) error {
		for _, cmd := range cmds {
			cmd.SetErr(err)
		}
		return err
	}
	req := abi.RedisRequest{Tx: tx}
	for _, cmd := range cmds {
		args, err := encode(cmd.Args())
		if err != nil {
			return fail(err)
		}
		req.Commands = append(req.Commands, args)
	}
	reply, err := c.send(ctx, req)
	switch {
	case err != nil:
		return fail(err)
	case reply.Lost != "":
		return fail(lost(reply.Lost))
	case len(reply.Values) != len(cmds):
		return fail(fmt.Errorf("redeliver: %d replies to %d commands", len(reply.Values), len(cmds)))
	}
	for i, cmd := range cmds {
		if v := reply.Values[i]; v.Kind == abi.RedisError {
			cmd.SetErr(proto.RedisError(v.Text))
		} else {
			cmd.SetErr(cmd.read(v))
		}
	}
	if reply.Discarded != "" {
		return proto.RedisError(reply.Discarded)
	}
	return firstError(cmds)
}

func firstError(cmds []Cmder) error {
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Pipeliner collects commands and executes them in one round trip. What a
// command returns has its value after Exec.
type Pipeliner interface {
	Cmdable

	// Len is how many commands wait for Exec.
	Len() int
	// Process adds a command.
	Process(ctx context.Context, cmd Cmder) error
	// BatchProcess adds commands.
	BatchProcess(ctx context.Context, cmd ...Cmder) error
	// Discard forgets the commands that wait.
	Discard()
	// Exec sends the commands. The error is that of the first one that failed.
	Exec(ctx context.Context) ([]Cmder, error)
	// Cmds are the commands that wait for Exec.
	Cmds() []Cmder
}

type pipeline struct {
	cmdable
	client *Client
	tx     bool
	cmds   []Cmder
}

func newPipeline(c *Client, tx bool) *pipeline {
	p := &pipeline{client: c, tx: tx}
	p.cmdable = p.Process
	return p
}

// Len implements Pipeliner.
func (p *pipeline) Len() int { return len(p.cmds) }

// Process implements Pipeliner.
func (p *pipeline) Process(ctx context.Context, cmd Cmder) error { return p.BatchProcess(ctx, cmd) }

// BatchProcess implements Pipeliner.
func (p *pipeline) BatchProcess(_ context.Context, cmd ...Cmder) error {
	p.cmds = append(p.cmds, cmd...)
	return nil
}

// Discard implements Pipeliner.
func (p *pipeline) Discard() { p.cmds = nil }

// Cmds implements Pipeliner.
func (p *pipeline) Cmds() []Cmder { return p.cmds }

// Exec implements Pipeliner.
func (p *pipeline) Exec(ctx context.Context) ([]Cmder, error) {
	if len(p.cmds) == 0 {
		return nil, nil
	}
	cmds := p.cmds
	p.cmds = nil
	return cmds, p.client.exec(ctx, p.tx, cmds)
}

// Pipelined implements Pipeliner.
func (p *pipeline) Pipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	if err := fn(p); err != nil {
		return nil, err
	}
	return p.Exec(ctx)
}

// TxPipelined implements Pipeliner: a pipeline of a pipeline is itself.
func (p *pipeline) TxPipelined(ctx context.Context, fn func(Pipeliner) error) ([]Cmder, error) {
	return p.Pipelined(ctx, fn)
}

// Pipeline implements Pipeliner.
func (p *pipeline) Pipeline() Pipeliner { return p }

// TxPipeline implements Pipeliner.
func (p *pipeline) TxPipeline() Pipeliner { return p }

var errUnexpected = errors.New("redis: can't parse reply")

func unexpected(what string, v abi.RedisValue) error {
	return fmt.Errorf("%w of kind %d as %s", errUnexpected, v.Kind, what)
}
