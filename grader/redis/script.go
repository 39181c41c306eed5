package redis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"
)

// Bounds of scripts. miniredis keeps every compiled script for the life of the
// process, so their number and length matter beyond a schedule.
const (
	maxScripts = 8 // different ones in one schedule
	maxScript  = 2 << 10
	maxConcats = 4 // each can double the length of a text
)

// functions that a script may call by their name alone.
var functions = []string{"tonumber", "tostring"}

// redisFunctions are those of the table redis.
var redisFunctions = []string{"call", "pcall", "error_reply", "status_reply"}

// checkScript says why a script is not run, "" when it is. What it accepts ends
// by itself after as many steps as it has words, calls only what is listed
// here, and asks the server only for commands of this package.
func checkScript(text string) string {
	if len(text) > maxScript {
		return fmt.Sprintf("a script of %d bytes is not available in this exercise: at most %d", len(text), maxScript)
	}
	stmts, err := parse.Parse(strings.NewReader(text), "script")
	if err != nil {
		return "" // the server says it better
	}
	c := &scriptChecker{}
	c.block(stmts)
	if c.why == "" && c.concats > maxConcats {
		c.refuse("more than %d concatenations", maxConcats)
	}
	return c.why
}

// scriptChecker walks over a script. Names are not resolved: what a script
// declares can never be called, and the names of what can be called may be
// neither declared nor passed on.
type scriptChecker struct {
	why     string
	concats int
}

func (c *scriptChecker) refuse(format string, args ...any) {
	if c.why == "" {
		c.why = fmt.Sprintf(format, args...) + " in a script: not available in this exercise"
	}
}

func (c *scriptChecker) block(stmts []ast.Stmt) {
	for _, s := range stmts {
		c.statement(s)
	}
}

func (c *scriptChecker) statement(s ast.Stmt) {
	switch s := s.(type) {
	case *ast.LocalAssignStmt:
		c.names(s.Names)
		c.values(s.Exprs)
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			name, ok := e.(*ast.IdentExpr)
			if !ok {
				c.refuse("an assignment to a table's element")
				continue
			}
			c.names([]string{name.Value})
		}
		c.values(s.Rhs)
	case *ast.FuncCallStmt:
		c.value(s.Expr)
	case *ast.DoBlockStmt:
		c.block(s.Stmts)
	case *ast.IfStmt:
		c.value(s.Condition)
		c.block(s.Then)
		c.block(s.Else)
	case *ast.ReturnStmt:
		c.values(s.Exprs)
	default:
		c.refuse("a loop, a jump or a function")
	}
}

// names checks what a script declares or assigns to.
func (c *scriptChecker) names(names []string) {
	for _, n := range names {
		if n == "redis" || n == "KEYS" || n == "ARGV" || slices.Contains(functions, n) {
			c.refuse("a variable with the name %s", n)
		}
	}
}

func (c *scriptChecker) values(list []ast.Expr) {
	for _, e := range list {
		c.value(e)
	}
}

func (c *scriptChecker) value(e ast.Expr) {
	switch e := e.(type) {
	case *ast.TrueExpr, *ast.FalseExpr, *ast.NilExpr, *ast.NumberExpr, *ast.StringExpr:
	case *ast.IdentExpr:
		if e.Value == "redis" || slices.Contains(functions, e.Value) {
			c.refuse("%s without a call", e.Value)
		}
	case *ast.AttrGetExpr:
		c.value(e.Object)
		c.value(e.Key)
	case *ast.TableExpr:
		for _, f := range e.Fields {
			if f.Key != nil {
				c.value(f.Key)
			}
			c.value(f.Value)
		}
	case *ast.LogicalOpExpr:
		c.values([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.RelationalOpExpr:
		c.values([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.ArithmeticOpExpr:
		c.values([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.StringConcatOpExpr:
		c.concats++
		c.values([]ast.Expr{e.Lhs, e.Rhs})
	case *ast.UnaryMinusOpExpr:
		c.value(e.Expr)
	case *ast.UnaryNotOpExpr:
		c.value(e.Expr)
	case *ast.UnaryLenOpExpr:
		c.value(e.Expr)
	case *ast.FuncCallExpr:
		c.call(e)
	default:
		c.refuse("a function")
	}
}

func (c *scriptChecker) call(e *ast.FuncCallExpr) {
	c.values(e.Args)
	if name, ok := e.Func.(*ast.IdentExpr); ok && slices.Contains(functions, name.Value) {
		return
	}
	name := redisFunction(e.Func)
	switch {
	case name == "":
		c.refuse("a call of anything but redis.call, redis.pcall, redis.error_reply, redis.status_reply, tonumber and tostring")
	case strings.HasSuffix(name, "call"):
		c.command(e.Args)
	}
}

// redisFunction is the name of a function of the table redis, or "".
func redisFunction(e ast.Expr) string {
	get, ok := e.(*ast.AttrGetExpr)
	if !ok {
		return ""
	}
	table, ok := get.Object.(*ast.IdentExpr)
	if !ok || table.Value != "redis" {
		return ""
	}
	key, ok := get.Key.(*ast.StringExpr)
	if !ok || !slices.Contains(redisFunctions, key.Value) {
		return ""
	}
	return key.Value
}

// command checks what redis.call asks the server for.
func (c *scriptChecker) command(args []ast.Expr) {
	name := ""
	if len(args) > 0 {
		if text, ok := args[0].(*ast.StringExpr); ok {
			name = text.Value
		}
	}
	if _, known := commands[strings.ToUpper(name)]; !known {
		c.refuse("the command %.20q", name)
	}
}
