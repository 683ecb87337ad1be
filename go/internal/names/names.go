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

var nameOfC = regexp.MustCompile(`\b(?:tdm|TDM)_\w+(?:\(\))?`)

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
	{"mixed_precision's reduce_dtype", "MixedPrecision.Reduce"},
	{"leave param_dtype unset", "leave MixedPrecision.Param unset"},
	{"set_requires_grad(true)", "SetRequiresGrad(true)"},
	{"turn it off, or see load_cuda()", "turn it off; TANDEM_DEVICE in the environment says whether it runs with CUDA"},
	{"quantization_perchannel_hook: bucket_size is", "dist.QuantizePerChannel: size is"},
	{"wrap the hook with compress_wrapper()", "compress the hook (dist.CommHook.Compressed)"},
	{"rpc::init", "rpc.Init"},
	{"rpc::shutdown", "rpc.Shutdown"},
	{"to_here() gives", "RRef.ToHere gives"},
	{"remote() takes", "rpc.Remote takes"},
	{"shutdown() may be", "rpc.Shutdown may be"},
	{"workers call shutdown() when", "workers call rpc.Shutdown when"},
	{"call load_cuda() first, which says why it cannot", "TANDEM_DEVICE in the environment says whether it runs with CUDA"},
	{"Tensor::to_dense", "Tensor.ToDense"},
	{"Tensor::to_sparse", "Tensor.ToSparse"},
	{"ParameterClient::leave()", "rpc.ParameterClient.Leave"},
	{"call step() again, which waits on, before leave()", "call Step again, which waits on, before Leave"},
	{"call step() again, which waits on, before state()", "call Step again, which waits on, before checkpoint.Folder.Save"},
	{"call step() again, which waits on, before load()", "call Step again, which waits on, before checkpoint.Folder.Load"},
	{"which is NULL", "which is nil"},
	{"' is NULL", "' is nil"},
}

// word is a name of C or Python that stands as a word of its own: not in paths and quoted names, which are the program's.
var word = regexp.MustCompile(`(^|[\s(,;])([a-z][a-z0-9]*(?:_[a-z0-9]+)+)(=True)?($|[\s),;]|'s |\.\s|\.$)`)

// within is a function of the core that a message begins with, as its operation is known already.
var within = regexp.MustCompile(`^(?:register_comm_hook|set_optimizer_in_backward|try_bucket_sizes|consolidate_state): `)

// steps are transforms of data's, by the names that they have in JSON.
var steps = regexp.MustCompile(`\b(?:to_float|one_hot|random_crop|center_crop|random_horizontal_flip|random_resized_crop|color_jitter)(: |'s )`)

// quoted is a word that messages of the C ABI put in quotes themselves: an argument of the function, or an option.
var quoted = regexp.MustCompile(`(argument|option) '([a-z0-9_]+)'`)

// ofRPC is a field of the core's options of RPC and of parameter servers, whose structs have the same names in Go.
var ofRPC = regexp.MustCompile(`\b((?:Call|ParameterClient|ParameterServer)?Options)::([a-z0-9_]+)`)

// chosen is a field of the options that the function was given.
var chosen = regexp.MustCompile(`options->([a-z0-9_]+)`)

// Field is Go's name of an option that C and Python call so.
func Field(name string) string {
	if known, ok := fields[name]; ok {
		return known
	}
	if known, ok := modulesFields[name]; ok {
		return known
	}
	var text strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			text.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return text.String()
}

// Parameter is Go's name of an option that a constructor takes as a parameter.
func Parameter(name string) string {
	text := Field(name)
	return strings.ToLower(text[:1]) + text[1:]
}

// argument is Go's name of a parameter that C calls so.
func argument(name string) string {
	first, rest, _ := strings.Cut(name, "_")
	if rest == "" || rest == "ms" {
		return first
	}
	return first + Field(rest)
}

// Message is an error's text in Go's words.
func Message(text string) string {
	if strings.Contains(text, "tdm_") || strings.Contains(text, "TDM_") {
		text = nameOfC.ReplaceAllStringFunc(text, func(name string) string {
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
	if strings.Contains(text, "Options::") {
		text = ofRPC.ReplaceAllStringFunc(text, func(found string) string {
			parts := ofRPC.FindStringSubmatch(found)
			return parts[1] + "." + Field(parts[2])
		})
	}
	text = chosen.ReplaceAllStringFunc(text, func(found string) string {
		return "options." + Field(chosen.FindStringSubmatch(found)[1])
	})
	if strings.Contains(text, "_") {
		text = within.ReplaceAllString(text, "")
		text = steps.ReplaceAllStringFunc(text, func(found string) string {
			end := strings.IndexAny(found, ":'")
			return Field(found[:end]) + found[end:]
		})
		text = quoted.ReplaceAllStringFunc(text, func(found string) string {
			parts := quoted.FindStringSubmatch(found)
			if parts[1] == "argument" {
				return "argument '" + argument(parts[2]) + "'"
			}
			if known, ok := fields[parts[2]]; ok {
				return known
			}
			return found // of a module or an optimizer, which take them by name
		})
		for range 2 { // what ends one word begins the next
			text = word.ReplaceAllStringFunc(text, func(found string) string {
				parts := word.FindStringSubmatch(found)
				if known, ok := fields[parts[2]]; ok {
					return parts[1] + known + parts[4]
				}
				return found
			})
		}
	}
	return text
}

// Options is the message of an error of a constructor, which gives those options by their names in C; `parameters` are
// the ones that are something else than an option of that name in Go.
func Options(text string, given []string, parameters map[string]string) string {
	for _, name := range given {
		known, ok := parameters[name]
		if !ok {
			known = Field(name)
		}
		text = strings.ReplaceAll(text, "option '"+name+"'", known)
		either := "(?:" + name[:1] + "|" + strings.ToUpper(name[:1]) + ")" + name[1:] // LibTorch's sentences begin with names
		if !strings.Contains(name, "_") {
			either = name
		}
		text = regexp.MustCompile(`\b`+either+`\b`).ReplaceAllLiteralString(text, known)
	}
	return text
}
