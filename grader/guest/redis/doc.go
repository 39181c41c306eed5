// Package redis is the Redis client of a submission, which knows it under the
// import path of github.com/redis/go-redis/v9: the packages there hold only
// aliases, because a submission must not be able to make a client that is not
// the harness's. Names, signatures and error texts are those of version 9 for
// what the exercises need; a call travels to the real client outside the sandbox.
//
// # What it does not imitate
//
//   - The client never repeats a command by itself, as with MaxRetries: -1. The
//     default of the real client, three retries, would send a command again whose
//     reply was lost, and a handler that got false from SetNX could not know that
//     it had set the key itself.
//   - There is one connection and no pool; hooks, cluster, sentinel, pub/sub, WATCH
//     and commands on lists, hashes, sets and streams are missing.
//   - The commands of a pipeline are executed without another client's between them,
//     also without MULTI.
//   - The server does not lose keys: no eviction, no failover to a replica that
//     had not yet received a write.
//   - Scripts are restricted; package grader/redis says how.
package redis
