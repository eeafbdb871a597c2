// Command argocd runs a health check as Argo CD does: Lua with the object as `obj`, in gopher-lua with few libraries; the table
// that it returns is printed as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	lua "github.com/yuin/gopher-lua"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(script string) error {
	text, err := os.ReadFile(script)
	if err != nil {
		return err
	}
	var object any
	if err := json.NewDecoder(os.Stdin).Decode(&object); err != nil {
		return err
	}
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	// What Argo CD opens unless an option opens more.
	for name, open := range map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase,
		lua.TabLibName: lua.OpenTable, lua.StringLibName: lua.OpenString,
	} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), Protect: true}, lua.LString(name)); err != nil {
			return err
		}
	}
	state.SetGlobal("obj", value(state, object))
	if err := state.DoString(string(text)); err != nil {
		return err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return fmt.Errorf("the check returns %s, not a table", state.Get(-1).Type())
	}
	said := map[string]string{}
	table.ForEach(func(key, value lua.LValue) { said[key.String()] = value.String() })
	return json.NewEncoder(os.Stdout).Encode(said)
}

func value(state *lua.LState, from any) lua.LValue {
	switch from := from.(type) {
	case bool:
		return lua.LBool(from)
	case float64:
		return lua.LNumber(from)
	case string:
		return lua.LString(from)
	case []any:
		table := state.CreateTable(len(from), 0)
		for _, item := range from {
			table.Append(value(state, item))
		}
		return table
	case map[string]any:
		table := state.CreateTable(0, len(from))
		for key, item := range from {
			table.RawSetString(key, value(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}
