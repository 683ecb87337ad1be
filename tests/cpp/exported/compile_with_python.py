#!/usr/bin/env python3
"""Compiles programs of files/ with AOTInductor, and has the tests compare what the packages give with what Python gave.

    compile_with_python.py TEST_PROGRAM
"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import torch  # noqa: E402

import models  # noqa: E402

# Dynamic sizes, buffers and inputs that change, tied weights, numbers and None among the outputs.
COMPILED = ("resnet18", "transformer_eval", "cnn", "functional", "decoder_eval", "regions")
# As docs/exported-models.md has it.
SHARED_WEIGHTS = {"always_keep_tensor_constants": True, "joint_graph_constant_folding": False,
                  "cpp.dynamic_threads": True, "aot_inductor.metadata": {"weights": "shared"}}


def main(test):
    with tempfile.TemporaryDirectory() as folder:
        for name in COMPILED:
            program = torch.export.load(models.FILES / f"{name}.pt2")
            torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/{name}.pt2",
                                                     inductor_configs=SHARED_WEIGHTS)
        # With the defaults.
        program = torch.export.load(models.FILES / "mlp_eval.pt2")
        torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/mlp_eval.pt2")
        ran = subprocess.run([test, "--gtest_filter=*CompiledByPython*"], stdout=subprocess.PIPE, text=True, check=False,
                             env={**os.environ, "COMPILED_PACKAGES": folder})
    if f"[  PASSED  ] {len(COMPILED) + 4} tests" not in ran.stdout:
        sys.exit(ran.stdout)
    print(f"{len(COMPILED)} compiled programs give what Python gives")


if __name__ == "__main__":
    main(*sys.argv[1:])
