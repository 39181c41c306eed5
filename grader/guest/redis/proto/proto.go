// Package proto has the type of the server's errors, which prints as in the
// real client.
package proto

// RedisError is an error that the server answered with.
type RedisError string

func (e RedisError) Error() string { return string(e) }

// RedisError marks the errors of the server.
func (RedisError) RedisError() {}
