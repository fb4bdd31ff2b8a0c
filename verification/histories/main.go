// Checks by Porcupine that a history of bin/failures --edn is linearizable: each name is a register
// of an owner and a token that rises. bin/histories runs it.
//
//	acquire: from the request to the reply; legal if the lock is free and the token is above the last
//	end:     from the last moment at which the lease was certainly valid to infinity;
//	         legal if the lease is the owner
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"sort"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	kind  string
	lease string
	token int64
}

type register struct {
	owner string
	token int64
}

var model = porcupine.Model{
	Init: func() interface{} { return register{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		r, op := state.(register), input.(operation)
		if op.kind == "acquire" {
			return r.owner == "" && op.token > r.token, register{op.lease, op.token}
		}
		return r.owner == op.lease, register{"", r.token}
	},
}

var line = regexp.MustCompile(`:time (-?\d+), :process (\d+), :type :(\w+), :f :(\w+),` +
	` :value \["([^"]*)" \{:lease "([^"]*)", :token (\d+)\}\]`)

func read(file string) (map[string][]porcupine.Operation, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	names := map[string][]porcupine.Operation{}
	open := map[string]int{} // by process: the place of its operation
	for lines := bufio.NewScanner(in); lines.Scan(); {
		f := line.FindStringSubmatch(lines.Text())
		if f == nil {
			return nil, fmt.Errorf("%s: not an operation: %s", file, lines.Text())
		}
		at, _ := strconv.ParseInt(f[1], 10, 64)
		token, _ := strconv.ParseInt(f[7], 10, 64)
		if f[3] == "invoke" {
			open[f[2]] = len(names[f[5]])
			names[f[5]] = append(names[f[5]], porcupine.Operation{
				Input: operation{f[4], f[6], token}, Call: at, Return: math.MaxInt64})
		} else {
			names[f[5]][open[f[2]]].Return = at
		}
	}
	return names, nil
}

// The operations of this kind, in the order of their beginning.
func places(ops []porcupine.Operation, kind string) []int {
	var found []int
	for i, op := range ops {
		if op.Input.(operation).kind == kind {
			found = append(found, i)
		}
	}
	sort.Slice(found, func(i, j int) bool { return ops[found[i]].Call < ops[found[j]].Call })
	return found
}

// Spoils the name with the most operations, so that its verdict must be Illegal.
func spoil(names map[string][]porcupine.Operation, control string) error {
	name := ""
	for n, ops := range names {
		if len(ops) > len(names[name]) || len(ops) == len(names[name]) && n < name {
			name = n
		}
	}
	ops := names[name]
	acquires, ends := places(ops, "acquire"), places(ops, "end")
	for i := 0; i+1 < len(acquires); i++ {
		a, b := acquires[i], acquires[i+1]
		if control == "swap" && ops[a].Return < ops[b].Call {
			x, y := ops[a].Input.(operation), ops[b].Input.(operation)
			x.token, y.token = y.token, x.token
			ops[a].Input, ops[b].Input = x, y
			fmt.Println("histories: swapped two tokens of", name)
			return nil
		}
	}
	if control == "end" && len(ends) > 1 && len(acquires) > 1 {
		names[name] = append(ops[:ends[0]:ends[0]], ops[ends[0]+1:]...)
		fmt.Println("histories: removed an end of", name)
		return nil
	}
	return fmt.Errorf("no control %q is possible in this history", control)
}

func main() {
	control := flag.String("control", "", "swap or end: spoil the history")
	flag.Parse()
	names, err := read(flag.Arg(0))
	if err == nil && *control != "" {
		err = spoil(names, *control)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "histories:", err)
		os.Exit(2)
	}
	count, unknown := 0, 0
	var illegal []string
	began := time.Now()
	for name, ops := range names {
		count += len(ops)
		switch porcupine.CheckOperationsTimeout(model, ops, time.Minute) {
		case porcupine.Illegal:
			illegal = append(illegal, name)
		case porcupine.Unknown:
			unknown++
		}
	}
	sort.Strings(illegal)
	verdict := porcupine.Ok
	if unknown > 0 {
		verdict = porcupine.Unknown
	}
	if len(illegal) > 0 {
		verdict = porcupine.Illegal
		fmt.Println("histories: Illegal:", illegal)
	}
	fmt.Printf("histories: names=%d operations=%d unknown=%d ms=%d verdict=%s\n",
		len(names), count, unknown, time.Since(began).Milliseconds(), verdict)
	if verdict != porcupine.Ok {
		os.Exit(1)
	}
}
