"""Lets the CUDA build of torch be imported without the 3 GB of CUDA libraries that it names.

PyPI has only that build for Linux, and libtorch_python.so is linked to all of them, though a CPU run calls none. For
each library that is missing this makes an empty one with the symbols that torch's own libraries ask for; each of its
functions aborts. The peer is lighter for it (an installation with the real libraries maps more memory), never heavier.

    python cuda_stand_ins.py SITE_PACKAGES
"""
import os
import re
import subprocess
import sys
import tempfile

# These two carry symbols that do not name their library in their version.
VERSIONS = {"NVSHMEM": "libnvshmem_host.so.3"}
UNVERSIONED = "libcufile.so.0"


def lines(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def missing_libraries(libraries, folders):
    """Sonames that some library needs and no folder nor the system has."""
    needed = set()
    for library in libraries:
        for line in lines("readelf", "-d", library):
            if match := re.search(r"\(NEEDED\).*\[(.+)\]", line):
                needed.add(match[1])
    present = {name for folder in folders for name in os.listdir(folder)}
    present |= {line.split()[0] for line in lines("/sbin/ldconfig", "-p")[1:]}
    return {name for name in needed - present if re.match(r"lib(cu|nv|nccl)", name)}


def undefined_symbols(libraries):
    """{(name, version or '')} that the CUDA libraries would have to define."""
    symbols, defined = set(), set()
    for library in libraries:
        defined |= {line.split()[-1].split("@")[0] for line in lines("nm", "-D", "--defined-only", library)}
        for line in lines("nm", "-D", "--undefined-only", library):
            name, _, version = line.split()[-1].partition("@")
            symbols.add((name, version.lstrip("@")))
    return {(name, version) for name, version in symbols
            if name not in defined and (version.startswith(("libcu", "NVSHMEM")) or
                                        (not version and re.match(r"cu|nccl|nvshmem", name)))}


def main(site_packages):
    torch = os.path.join(site_packages, "torch", "lib")
    folder = os.path.join(site_packages, "nvidia", "cu13", "lib")
    libraries = [os.path.join(torch, name) for name in sorted(os.listdir(torch))
                 if name.endswith(".so") and name != "libcaffe2_nvrtc.so"]
    symbols = undefined_symbols(libraries)
    for soname in sorted(missing_libraries(libraries, [torch, folder])):
        versions = {}
        for name, version in symbols:
            owner = VERSIONS.get(version, version) if version else UNVERSIONED
            if owner == soname:
                versions.setdefault(version, []).append(name)
        body = "#include <stdlib.h>\n" + "".join(
            f"int {name}(void) {{ abort(); }}\n" for names in versions.values() for name in sorted(names))
        command = ["gcc", "-shared", "-fPIC", "-w", "-o", os.path.join(folder, soname), f"-Wl,-soname,{soname}"]
        with tempfile.TemporaryDirectory() as scratch:
            for version in filter(None, versions):
                script = os.path.join(scratch, version)
                with open(script, "w") as file:
                    file.write(f"{version} {{ global: *; }};\n")
                command.append(f"-Wl,--version-script={script}")
            subprocess.run(command + ["-x", "c", "-"], input=body, text=True, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
