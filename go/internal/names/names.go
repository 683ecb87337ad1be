// Package names says in Go's words what errors of the C ABI and of LibTorch say in C's and Python's.
package names

import (
	"regexp"
	"strings"
)

// Operation is Go's name of the function that the C ABI names so, without "tdm_": "store_get" is dist.Store.Get. Others
// stay as they are, such as operators.
func Operation(name string) string {
	if known, ok := table["tdm_"+name]; ok {
		return known
	}
	return name
}

var ofC = regexp.MustCompile(`\b(?:tdm|TDM)_\w+(?:\(\))?`)

// phrases of Python and C++ in LibTorch's messages, and of C in Tandem's.
var phrases = []struct{ from, to string }{
	{"Specify retain_graph=True if", "Set BackwardOptions.RetainGraph if"},
	{"when you call .backward() or autograd.grad()", "by Backward and Grad"},
	{"saved tensors after calling backward", "saved tensors after Backward"},
	{"Set allow_unused=True", "Set GradOptions.AllowUnused"},
	{"with torch.autograd.set_detect_anomaly(True, check_nan=False)", "with gotorch.DetectAnomaly"},
	{"with torch.autograd.set_detect_anomaly(True)", "with gotorch.DetectAnomaly"},
	{"use var_no_grad = var.detach()", "use Tensor.Detach"},
	{"use `torch.no_grad()` instead of `torch.inference_mode()`", "use gotorch.NoGrad instead of gotorch.InferenceMode"},
	{"Use .reshape(...) instead", "Use Tensor.Reshape instead"},
	{"Use `tensor.item()` in Python or `tensor.item<T>()` in C++", "Use Tensor.Item"},
	{"please use out-of-place `.detach()` instead", "please use Tensor.Detach instead"},
	{"but you set 'torch.use_deterministic_algorithms(True)'", "but determinism was asked for (gotorch.SetDeterminism)"},
	{"or you can use the 'warn_only=True' option, if", "or you can use gotorch.Warn, if"},
	{"passing the keyword argument `find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`",
		"setting DDPOptions.FindUnusedParameters"},
	{"leave param_dtype unset", "leave MixedPrecision.Param unset"},
	{"set_requires_grad(true)", "SetRequiresGrad(true)"},
	{"options->", "options."},
	{"which is NULL", "which is nil"},
	{"' is NULL", "' is nil"},
}

// options of DDP by their names in Python and C, where they stand as words of their own: not in paths and quoted names, which
// are the program's.
var options = []struct{ from, to string }{
	{"find_unused_parameters=True", "FindUnusedParameters"},
	{"find_unused_parameters", "FindUnusedParameters"},
	{"static_graph=True", "StaticGraph"},
	{"static_graph", "StaticGraph"},
	{"gradient_as_bucket_view=True", "GradientAsBucketView"},
	{"skip_all_reduce_unused_params", "SkipAllReduceUnusedParams"},
	{"average_by_samples", "AverageBySamples"},
	{"mixed_precision", "MixedPrecision"},
}

var word = regexp.MustCompile(`(^|[\s(,;:])([a-z]+(?:_[a-z]+)+(?:=True)?)($|[\s),;:.])`)

// Message is an error's text in Go's words.
func Message(text string) string {
	if strings.Contains(text, "tdm_") || strings.Contains(text, "TDM_") {
		text = ofC.ReplaceAllStringFunc(text, func(name string) string {
			if known, ok := table[strings.TrimSuffix(name, "()")]; ok {
				if strings.Contains(known, ".") {
					return known
				}
				return "gotorch." + known
			}
			return name
		})
	}
	for _, one := range phrases {
		if strings.Contains(text, one.from) {
			text = strings.ReplaceAll(text, one.from, one.to)
		}
	}
	if strings.Contains(text, "_") {
		text = word.ReplaceAllStringFunc(text, func(found string) string {
			for _, one := range options {
				if strings.Trim(found, " \t\n(),;:.") == one.from {
					return strings.Replace(found, one.from, one.to, 1)
				}
			}
			return found
		})
	}
	return text
}
