//go:build wasip1

package handler

import (
	"fmt"
	"os"
)

// startup says what the package initialisation does; the tests set it when they
// link.
var startup string

func init() {
	switch startup {
	case "loop":
		for {
			counter++
		}
	case "panic":
		panic("not configured")
	case "allocate":
		hog = append(hog, make([]byte, 1<<30))
	case "exit":
		os.Exit(1)
	case "call":
		note("too early")
	case "print":
		fmt.Println("starting")
	}
}
