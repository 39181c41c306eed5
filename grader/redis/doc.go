// Package redis is the Redis server of one schedule: miniredis in this process,
// reached by the real go-redis client over a pipe, with the schedule's clock. It
// outlives the instances of the handler: a crash keeps keys and their expiry.
//
// # What it does not imitate
//
//   - It loses nothing: no eviction, no failover to a replica that lags behind.
//   - A pipeline is executed as a whole. The real server may serve another client
//     between two commands that are not in MULTI.
//   - Keys expire exactly at their time, also when nobody looks.
//   - Only the commands are there that the client in the sandbox can send, see
//     commands.go.
//   - A script must be straight code: no loop, no function of its own, see
//     script.go. The server runs in our process, and Lua without a bound would
//     hang it or take its memory.
package redis
