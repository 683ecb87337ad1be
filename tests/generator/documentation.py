"""What comments of tandem.h must say, and that they and the annotations agree: documentation.py ABI_JSON"""
import collections
import json
import re
import sys

ALWAYS = {"options", "user_data", "destroy"}  # may be NULL anywhere, as the header's head says
SAFE = re.compile(r"\bThread-safe\b|\bFrom any thread\b|\bfrom any thread\b(?! at)|\bAny thread may (?:use|write)\b")
NULL = re.compile(r"`(\w+)`,? (?:which )?may be NULL|\*(\w+),? (?:which )?\(?may be NULL|\b(\w+) NULL:")
# Handles that no caller has for good: an operator for ever, a result as long as the function that gives it.
BORROWED = ("tdm_op", "tdm_rpc_result")


def problems(abi):
    frees = {h["name"]: h["freed_by"] for h in abi["handles"]}
    told = collections.defaultdict(str)  # all that a section's comments say
    for section in abi["sections"]:
        told[section["name"]] = section["documentation"]
    for f in abi["functions"]:
        told[f["section"]] += "\n" + f["documentation"]
    for f in abi["functions"]:
        name, text, own = f["name"], f["documentation"], f["own_documentation"]
        if name.endswith("_init") or f.get("frees"):
            continue
        if not text:
            yield f"{name} has no comment"
        parameters = {p["name"]: p for p in f["parameters"]}
        for p in f["parameters"]:
            if "freed_by" in p and f"{p['freed_by']}(" not in told[f["section"]]:
                yield f"{name}: no comment says what frees {p['name']}: {p['freed_by']}()"
            near = rf"\b{p['name']}\b.{{0,60}}\bNULL\b|\bNULL\b.{{0,60}}\b{p['name']}\b"
            if p["nullable"] and p["name"] not in ALWAYS and "NULL" not in text and not re.search(near, told[f["section"]], re.S):
                yield f"{name}: {p['name']} may be NULL, which its comment does not say"
        if own:
            for said in NULL.findall(text):
                of = parameters.get("".join(said))
                if of and not of["nullable"] and of["kind"] != "memory":  # which may be of no bytes
                    yield f"{name}: its comment says that {of['name']} may be NULL, and it is not TDM_NULLABLE"
            if re.search(r"\bBlocks\b", text) and not f["blocks"]:
                yield f"{name} says that it blocks, and is not TDM_BLOCKS"
            handle = any(p["kind"] == "handle" and p["direction"] == "in" for p in f["parameters"])
            if handle and SAFE.search(text) and not f["thread_safe"]:
                yield f"{name} says that any thread may call it, and is not TDM_THREAD_SAFE"
    for h in abi["handles"]:
        if not h["freed_by"] and h["name"] not in BORROWED:
            yield f"{h['name']}: no function frees it"


with open(sys.argv[1], encoding="utf-8") as file:
    found = list(problems(json.load(file)))
sys.exit("\n".join(found) or 0)
