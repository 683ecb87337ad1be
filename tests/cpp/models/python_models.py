"""Makes what a case names with torchvision and Hugging Face's transformers; for reference.py."""
import contextlib

import torch
import torchvision
from torch import nn
from torchvision.models import convnext, mobilenetv3, resnet, vgg
from torchvision.models.vision_transformer import VisionTransformer
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers.models.llama import modeling_llama


@contextlib.contextmanager
def linear_sizes(sizes):
    """Linear layers of fixed sizes get others."""
    plain = nn.Linear

    class Sized(plain):
        def __init__(self, i, o, **more):
            plain.__init__(self, sizes.get(i, i), sizes.get(o, o), **more)

    nn.Linear = Sized
    try:
        yield
    finally:
        nn.Linear = plain


def narrow_resnet(kind, width=64, **options):
    class Narrow(resnet.ResNet):
        @property
        def inplanes(self):
            return self.__dict__["_inplanes"]

        @inplanes.setter
        def inplanes(self, value):
            first = "_inplanes" not in self.__dict__
            self.__dict__["_inplanes"] = width if first else value

        def _make_layer(self, block, planes, *more, **options):
            return super()._make_layer(block, planes * width // 64, *more, **options)

    with linear_sizes({512: 8 * width, 2048: 32 * width}):
        block, layers = {"resnet18": (resnet.BasicBlock, [2, 2, 2, 2]), "resnet34": (resnet.BasicBlock, [3, 4, 6, 3]),
                         "resnet50": (resnet.Bottleneck, [3, 4, 6, 3])}[kind]
        return Narrow(block, layers, **options)


def narrow_vgg(kind, width=64, hidden=4096, **options):
    config = {"11": "A", "13": "B", "16": "D", "19": "E"}[kind[3:5]]
    channels = [c if c == "M" else c * width // 64 for c in vgg.cfgs[config]]
    with linear_sizes({512 * 49: 8 * width * 49, 4096: hidden}):
        return vgg.VGG(vgg.make_layers(channels, batch_norm=kind.endswith("_bn")), **options)


def mobilenet(kind, width_mult=1.0, reduced_tail=False, dilated=False, **options):
    setting, last = mobilenetv3._mobilenet_v3_conf(kind, width_mult, reduced_tail, dilated)
    return mobilenetv3.MobileNetV3(setting, last, **options)


def narrow_convnext(kind, width, **options):
    depths = {"convnext_tiny": [3, 3, 9, 3]}.get(kind, [3, 3, 27, 3])
    sizes = [width, 2 * width, 4 * width, 8 * width, None]
    return convnext.ConvNeXt([convnext.CNBlockConfig(*one) for one in zip(sizes, sizes[1:], depths)], **options)


def vit(_, **options):
    return VisionTransformer(**{**dict(image_size=224, patch_size=16, num_layers=12, num_heads=12, hidden_dim=768,
                                       mlp_dim=3072), **options})


def gpt2(_, **options):
    return GPT2LMHeadModel(GPT2Config(attn_implementation="sdpa", bos_token_id=None, eos_token_id=None, **options))


class Norm(modeling_llama.LlamaRMSNorm):
    """That of transformers, but for computing in the tensors' dtype instead of float."""

    def forward(self, x):
        return nn.functional.rms_norm(x, self.weight.shape, self.weight, self.variance_epsilon)


def llama(_, **options):
    rope = {name.removeprefix("rope_"): options.pop(name) for name in list(options) if name.startswith("rope_")}
    rope = {"rope_type": rope.pop("type", "default"), "rope_theta": rope.pop("theta", 10000.0), **rope}
    modeling_llama.LlamaRMSNorm = Norm
    return LlamaForCausalLM(LlamaConfig(attn_implementation="sdpa", bos_token_id=None, eos_token_id=None,
                                        rope_parameters=rope, **options))


def make(kind, options):
    """With `width` and `hidden` where torchvision's sizes are fixed."""
    if kind.startswith("resnet") and kind in ("resnet18", "resnet34", "resnet50"):
        return narrow_resnet(kind, **options)
    for prefix, maker in {"vgg": narrow_vgg, "mobilenet": mobilenet, "convnext": narrow_convnext, "vit": vit, "gpt2": gpt2,
                          "llama": llama}.items():
        if kind.startswith(prefix):
            return maker(kind, **options)
    raise KeyError(kind)


def full(kind):
    """As torchvision and transformers make it, without memory."""
    with torch.device("meta"):
        if kind == "gpt2":
            return gpt2(kind)
        return getattr(torchvision.models, kind)()
