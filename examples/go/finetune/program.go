package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"tandem.example/gotorch"
	"tandem.example/gotorch/export"
	"tandem.example/gotorch/nn"
)

var pictureInput = regexp.MustCompile(`^Float\[[^,]+, 3, (\d+), (\d+)\]$`)

// load gives the model, and the height and width of the pictures that it was exported for.
func load(path, eval string) (program *export.Program, height, width int, err error) {
	if path == "" {
		return nil, 0, 0, fmt.Errorf("give --model FILE.pt2, which Python exported in training mode: see export.py")
	}
	if program, err = export.Load(path, export.Options{OtherMode: eval}); err != nil {
		return nil, 0, 0, err
	}
	if err := gotorch.Try(func() { nn.Train(program) }); err != nil {
		return nil, 0, 0, err
	}
	inputs := program.Inputs()
	var found []string
	if len(inputs) == 1 {
		found = pictureInput.FindStringSubmatch(inputs[0].Description)
	}
	if found == nil {
		var all []string
		for _, input := range inputs {
			all = append(all, input.Name+": "+input.Description)
		}
		return nil, 0, 0, fmt.Errorf("%s takes %s; it must take pictures alone, Float[batch, 3, height, width] with a height and "+
			"width that are numbers", path, strings.Join(all, ", "))
	}
	height, _ = strconv.Atoi(found[1])
	width, _ = strconv.Atoi(found[2])
	return program, height, width, nil
}

// freeze keeps the parameters as they are whose names begin with the prefix, if there is one, and gives the others.
func freeze(program nn.Module, prefix string) (trained []*gotorch.Tensor, err error) {
	all := nn.NamedParameters(program)
	for _, one := range all {
		if prefix != "" && strings.HasPrefix(one.Name, prefix) {
			one.Tensor.SetRequiresGrad(false)
		} else {
			trained = append(trained, one.Tensor)
		}
	}
	if len(trained) == 0 {
		return nil, fmt.Errorf("--freeze %q leaves no parameter to train", prefix)
	}
	if prefix != "" && len(trained) == len(all) {
		return nil, fmt.Errorf("--freeze %q: no parameter's name begins so; the first is %s, the last %s", prefix, all[0].Name,
			all[len(all)-1].Name)
	}
	return trained, nil
}
