"""Exports a model with the weights that prepare.py wrote: FOLDER/train.pt2 and FOLDER/eval.pt2, for batches of any size; with
--compile also the package that AOTInductor makes of the latter, FOLDER/compiled.pt2, for one thread.

    python export_model.py MODEL FOLDER [--compile]
"""
import os
import sys

import torch

import models
import tensor_file

name, folder = sys.argv[1:3]
model = models.MODELS[name]()
model.load_state_dict(tensor_file.load(os.path.join(folder, "init.safetensors")))
inputs = tensor_file.load(os.path.join(folder, "rank-0.safetensors"))["inputs"]
batch = torch.export.Dim("batch", min=1, max=1024)
for training, file in ((True, "train.pt2"), (False, "eval.pt2")):
    program = torch.export.export(model.train(training), (inputs,), dynamic_shapes=({0: batch},))
    torch.export.save(program, os.path.join(folder, file))
if "--compile" in sys.argv[3:]:
    torch.set_num_threads(1)
    # docs/exported-models.md says what the settings are for.
    torch._inductor.aoti_compile_and_package(
        program, package_path=os.path.join(folder, "compiled.pt2"),
        inductor_configs={"always_keep_tensor_constants": True, "joint_graph_constant_folding": False,
                          "cpp.dynamic_threads": True, "aot_inductor.metadata": {"weights": "shared"}})
