"""Writes docs/models.md."""
from modules.networks import NETWORKS
from pages.modules import told

HEAD = """# Networks

Written by `capi/generator` from what the registry says of itself. Networks for images are those of torchvision 0.26, networks
for text those of Hugging Face's transformers: names and shapes of parameters and buffers, outputs in training and evaluation,
gradients and the way in which they begin are theirs, as stored references hold; networks for images draw torchvision's values
from the same seed. They are written once, in C++ (`cpp/src/models`), are modules like those of [`torch.nn`](modules.md), and
compute in one call a forward.

| | a network | tokens |
|---|---|---|
| C | `tdm_module_create("resnet18", options, …)` | `tdm_module_generate()` |
| C++ | `tandem::nn::make_module("resnet18", {{"num_classes", 10}})` | `tandem::generate()` in `tandem/generate.h` |
| Go | `vision.NewResNet18(vision.ResNetOptions{NumClasses: 10})`, `text.NewGPT2()` | `text.Generate(net, ids, text.GenerateOptions{})` |
| Java | `new ResNet18(new ResNet18.Options().numClasses(10))` of `org.tandem.vision`, `org.tandem.text` | `net.generate(ids, options)` |

An option in **bold** must be given; `?` means that none is taken, too. Names are those of torchvision's constructors and of
transformers' `GPT2Config` and `LlamaConfig`. `width`, and VGG's `hidden`, are sizes that torchvision has fixed.

"""
TAIL = """
`width` of ConvNeXt is 96, of `convnext_base` 128, of `convnext_large` 192; `stochastic_depth_prob` 0.1, 0.4, 0.5 and 0.5.
`rope_…` are the members of `rope_scaling` in a `config.json` of transformers, or of `rope_parameters`: `rope_type` is
`default`, `linear` or `llama3`. `activation_function` is `gelu_new` or `gelu`. Other activations, and torchvision's
`replace_stride_with_dilation` and `norm_layer`, are not there.

## Weights

Files of torchvision and of transformers load by the usual functions: `nn.Load("model.safetensors", net)` in Go,
`net.load(path)` in Java, `tdm_safetensors_load()` and `tdm_tensors_load()` in C. Two things of Hugging Face's files:

- A tied weight is there once, as in safetensors of transformers: `transformer.wte.weight` without `lm_head.weight`. Files of
  torch.save that have both load with `nn.LoadPartial`, which gives back the name that is too many.
- The first files of GPT-2 have no `transformer.` before their names, and have masks, `h.0.attn.bias`, beside them:

```go
state, _, err := gotorch.Open("gpt2/model.safetensors")
if err != nil {
	return err
}
state, err = gotorch.Rename(state, gotorch.RenameRule{Pattern: `^(wte|wpe|h|ln_f)\\.`, Replacement: "transformer.$1."})
if err != nil {
	return err
}
missing, _, err := nn.LoadPartial(net, state)
if err == nil && len(missing) > 0 {
	err = fmt.Errorf("the file lacks %v", missing)
}
return err
```

## Training

A network trains as any module: its parameters are an optimizer's and DDP's, `nn.Clone`, `To` and checkpoints take it whole.
SyncBatchNorm (`dist.ConvertSyncBatchNorm`) and running statistics that are computed anew (`nn.UpdateBatchNorm`) reach the layers in
it; hooks and parametrizations are of whole modules, so not of those layers.

## Text

`gpt2` and `llama` take `input_ids` [batch, length], int64, and give the logits of every position, [batch, length, vocabulary].
Beside them: `attention_mask` [batch, positions], 0 at padding; `position_ids`; `past_key_values`, a tuple of keys and values,
two tensors [batch, heads, positions, size of a head] a layer; `use_cache`; `logits_to_keep`, of how many last positions the logits
are wanted (0: of all). With `past_key_values` or `use_cache` a forward gives a second result, the keys and values of all
positions, for the next: so a token costs one position. In Go and Java `ForwardCached` and `forwardCached` do that.

`generate` adds tokens until each row has one of `eos_token_id`, at most `max_new_tokens` (20): the likeliest ones or, with
`do_sample`, such as are drawn by `temperature` (1), `top_k` (50; 0: of all), `top_p` (1) and `generator` (in Java the default one,
`Tandem.manualSeed`). Padding is on the left, with `attention_mask`. `use_cache` off computes all positions for each token, to the
same tokens. Dropout follows the module's mode: call `eval` first.

To add a network: a file in `cpp/src/models` with a table at its end, a line in `capi/generator/modules/networks.py`, a case in
`tests/cpp/models/cases.py`. Then:

```
build/dev/tests/list_modules > capi/generator/modules/modules.json
python3 -B capi/generator/generate.py write .
python3 tests/cpp/models/reference.py make tests/cpp/models      # needs torch 2.11, torchvision 0.26, transformers
```
"""


def families(networks):
    by_name = {m.type: m for m in networks}
    grouped = {}
    for name in NETWORKS:
        grouped.setdefault(by_name[name].family, []).append(by_name[name])
    return sorted(grouped.items(), key=lambda item: (item[1][0].package != "vision", item[0]))


def row(members):
    names = ", ".join(f"`{m.type}`" for m in members)
    alike = all(m.options == members[0].options for m in members)
    options = ", ".join(told(o) if alike or o.name not in ("width", "stochastic_depth_prob") else o.name
                        for o in members[0].options)
    return f"| {names} | {options} |\n"


def page(networks):
    return HEAD + "| network | options (default) |\n|---|---|\n" + "".join(
        row(members) for _, members in families(networks)) + TAIL
