"""Networks of the registry: names for them in languages that write types as words, and what they are."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Family:
    package: str
    text: str  # what follows the name
    source: str


@dataclasses.dataclass(frozen=True)
class Network:
    name: str
    family: str
    kind: str  # of its family


IMAGES = "Its input is [batch, 3, height, width], its result [batch, NumClasses]."
FAMILIES = {
    "ConvNeXt": Family("vision", f"is a ConvNet for the 2020s (Liu et al. 2022). {IMAGES} Width is the number of channels of the "
                       "first stage.", "torchvision.models.{0}"),
    "MobileNetV3": Family("vision", f"is a network for small machines (Howard et al. 2019). {IMAGES} WidthMult multiplies all "
                          "numbers of channels.", "torchvision.models.{0}"),
    "ResNet": Family("vision", f"is a residual network (He et al. 2016). {IMAGES} Width is the number of channels of the first "
                     "stage; Groups and WidthPerGroup are for those of 50 layers and more.", "torchvision.models.{0}"),
    "VGG": Family("vision", f"is a deep convolutional network (Simonyan and Zisserman 2015). {IMAGES} Width is the number of "
                  "channels of the first stage, Hidden that of the classifier's units.", "torchvision.models.{0}"),
    "VisionTransformer": Family("vision", "is a transformer of the patches of an image (Dosovitskiy et al. 2021). Its input is "
                                "[batch, 3, ImageSize, ImageSize], its result [batch, NumClasses].", "torchvision.models.{0}"),
    "GPT2": Family("text", "predicts the next token of a text (Radford et al. 2019). Its input is [batch, length] of int64, its "
                   "result [batch, length, VocabSize].", "transformers.GPT2LMHeadModel"),
    "Llama": Family("text", "predicts the next token of a text (Touvron et al. 2023). Its input is [batch, length] of int64, its "
                    "result [batch, length, vocabSize].", "transformers.LlamaForCausalLM"),
}
NETWORKS = {
    **{f"convnext_{size}": Network(f"ConvNeXt{size.capitalize()}", "ConvNeXt", f"of the size {size}")
       for size in ("tiny", "small", "base", "large")},
    **{f"mobilenet_v3_{size}": Network(f"MobileNetV3{size.capitalize()}", "MobileNetV3", f"of the size {size}")
       for size in ("small", "large")},
    **{f"resnet{layers}": Network(f"ResNet{layers}", "ResNet", f"of {layers} layers") for layers in (18, 34, 50, 101, 152)},
    **{f"vgg{layers}": Network(f"VGG{layers}", "VGG", f"of {layers} layers") for layers in (11, 13, 16, 19)},
    **{f"vgg{layers}_bn": Network(f"VGG{layers}BN", "VGG", f"of {layers} layers with batch normalization")
       for layers in (11, 13, 16, 19)},
    "vit_b_16": Network("ViTB16", "VisionTransformer", "of the base size, by patches of 16 pixels"),
    "gpt2": Network("GPT2", "GPT2", "of 124 million parameters"),
    "llama": Network("Llama", "Llama", "of the given sizes"),
}
