#!/usr/bin/env python3
"""Packs a shared library as torch._inductor.aoti_compile_and_package does.

    compiled_package.py LIBRARY PACKAGE
"""
import json
import pathlib
import platform
import sys
import zipfile

library, package = map(pathlib.Path, sys.argv[1:])
metadata = {"AOTI_DEVICE_KEY": "cpu", "AOTI_PLATFORM": "linux", "AOTI_MACHINE": platform.machine(), "AOTI_CPU_ISA": "",
            "AOTI_COMPUTE_CAPABILITY": "", "weights": "shared"}
with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
    def add(member, content):
        archive.writestr(zipfile.ZipInfo(f"{package.stem}/{member}"), content)

    add("data/aotinductor/model/mlp.wrapper.cpp", "// its source, which is not compiled again\n")
    add("data/aotinductor/model/mlp.wrapper_metadata.json", json.dumps(metadata))
    add("data/aotinductor/model/mlp.wrapper.so", library.read_bytes())
    add("archive_format", "pt2")
    add("archive_version", "0")
    add("byteorder", "little")
