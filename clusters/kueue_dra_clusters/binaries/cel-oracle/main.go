// Command cel-oracle compiles and evaluates device selectors with Kubernetes' own CEL package for DRA.
//
// Each line of standard input is a question in JSON, each line of standard output its answer; see Question and Answer.
// Without flags it judges as Kueue does: features off, in the environment for stored expressions.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/util/compatibility"
	basecompatibility "k8s.io/component-base/compatibility"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// slowest is how long one evaluation may last, far above what the limit on cost allows.
const slowest = 30 * time.Second

// Question is a selector and the devices it is asked about.
type Question struct {
	Selector string   `json:"selector"`
	Devices  []Device `json:"devices"`
}

// Device is a device of a ResourceSlice of resource.k8s.io/v1, with the driver of its slice.
type Device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

// Answer is a refusal, or the estimated cost and what each device gave, in order.
type Answer struct {
	Malformed string    `json:"malformed,omitempty"`
	Refused   string    `json:"refused,omitempty"`
	Cost      *uint64   `json:"cost,omitempty"`
	Verdicts  []Verdict `json:"verdicts,omitempty"`
}

// Verdict is a truth or an error, and what finding it cost.
type Verdict struct {
	Match bool    `json:"match"`
	Error string  `json:"error,omitempty"`
	Cost  *uint64 `json:"cost,omitempty"`
}

func main() {
	fresh := flag.Bool("new", false, "judge as an API server judges a selector that is new to it")
	shared := flag.Bool("consumable-capacity", false, "with the feature DRAConsumableCapacity")
	lists := flag.Bool("list-attributes", false, "with the feature DRAListTypeAttributes")
	minor := flag.String("kubernetes", "", "the Kubernetes version that is emulated, such as 1.35")
	flag.Parse()
	if *minor != "" {
		emulate(*minor)
	}
	kind := environment.StoredExpressions
	if *fresh {
		kind = environment.NewExpressions
	}
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: *shared, EnableListTypeAttributes: *lists})
	compile := func(selector string) dracel.CompilationResult {
		return compiler.CompileCELExpression(selector, dracel.Options{EnvType: &kind})
	}
	if err := serve(compile); err != nil {
		fmt.Fprintln(os.Stderr, "cel-oracle:", err)
		os.Exit(1)
	}
}

// emulate sets the version whose libraries are offered to new expressions: those of the minor before it.
func emulate(minor string) {
	compatibility.DefaultComponentGlobalsRegistry.Reset()
	effective := basecompatibility.NewEffectiveVersionFromString(minor, "", "")
	if err := compatibility.DefaultComponentGlobalsRegistry.Register(
		basecompatibility.DefaultKubeComponent, effective, nil); err != nil {
		fmt.Fprintln(os.Stderr, "cel-oracle:", err)
		os.Exit(2)
	}
}

func serve(compile func(string) dracel.CompilationResult) error {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 {
			return nil
		}
		if problem := encoder.Encode(answer(compile, line)); problem != nil {
			return problem
		}
		if problem := output.Flush(); problem != nil {
			return problem
		}
		if err != nil {
			return nil
		}
	}
}

func answer(compile func(string) dracel.CompilationResult, line []byte) Answer {
	var asked Question
	if err := json.Unmarshal(line, &asked); err != nil {
		return Answer{Malformed: err.Error()}
	}
	compiled := compile(asked.Selector)
	if compiled.Error != nil {
		return Answer{Refused: compiled.Error.Detail}
	}
	given := Answer{}
	if compiled.MaxCost != math.MaxUint64 {
		given.Cost = &compiled.MaxCost
	}
	for _, device := range asked.Devices {
		given.Verdicts = append(given.Verdicts, verdict(compiled, device))
	}
	return given
}

func verdict(compiled dracel.CompilationResult, device Device) Verdict {
	ctx, cancel := context.WithTimeout(context.Background(), slowest)
	defer cancel()
	matches, details, err := compiled.DeviceMatches(ctx, dracel.Device(device))
	found := Verdict{Match: matches}
	if details != nil {
		found.Cost = details.ActualCost()
	}
	if err != nil {
		found.Error = err.Error()
	}
	return found
}
