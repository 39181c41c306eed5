//go:build wasip1 && huge

package handler

var huge [1 << 30]byte

func init() { tasks["touch"] = func() { huge[counter] = 1 } }
