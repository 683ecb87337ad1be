"""abi.json: what tandem.h says, for programs that write bindings. docs/abi-json.md has its keys."""
import dataclasses
import json

FORMAT = 1
# What ends a handle, where that is not called so.
ENDS = {"tdm_scope_exit": "tdm_scope", "tdm_mode_exit": "tdm_mode"}


def released(f, header):
    """The type of handle that is gone after the call."""
    freed = f.name.removesuffix("_free")
    return ENDS.get(f.name) or (freed if freed != f.name and freed in header.handles else None)


class Document:
    def __init__(self, header):
        self.header = header
        self.frees = {released(f, header): f.name for f in header.functions if released(f, header)}
        self.frees["tdm_value"] = "tdm_value_clear"

    def parameter(self, p):
        said = {"name": p.name, "type": p.type, "kind": p.kind}
        if p.kind == "callback":
            said["type"] = f"{p.callback.result} (*)({p.callback.text})"
        if p.kind == "union":
            said["members"] = [self.parameter(m) for m in p.members]
            return said
        if p.about:
            said["about"] = p.about
        said["direction"] = p.direction
        said["nullable"] = p.nullable
        for key, value in (("maybe", p.maybe), ("list", p.list), ("nullable_elements", p.nullable_elements), ("kept", p.kept)):
            if value:
                said[key] = True
        if p.count:
            said["count"] = p.count
        if p.direction == "out" and (p.owned or p.about == "tdm_value"):
            said["freed_by"] = self.frees[p.about]
        if p.kind == "callback":
            said["called"] = p.called
            said["callback"] = self.signature(p.callback)
        return said

    def signature(self, f):
        result = {"type": f.result}
        if f.result != "void":
            kind, about, _, _ = self.header.meaning(f.result, f.name)
            result |= {"kind": kind, **({"about": about} if about else {})}
        return {"result": result, "parameters": [self.parameter(p) for p in f.parameters]}

    def function(self, f):
        frees = released(f, self.header)
        return {"name": f.name, **self.signature(f), "fallible": f.fallible, "blocks": f.blocks, "thread_safe": f.thread_safe,
                **({"frees": frees} if frees else {}), **({"deprecated": True} if f.deprecated else {}),
                "section": f.section, "documentation": f.documentation, "own_documentation": f.own_comment}

    def field(self, f):
        said = self.parameter(f)
        if f.default is not None:
            said["default"] = f.default
        if f.documentation:
            said["documentation"] = f.documentation
        return said

    def enumeration(self, e):
        return {"name": e.name, "type": e.type, "section": e.section, "documentation": e.documentation,
                "constants": [dataclasses.asdict(c) for c in e.constants]}

    def struct(self, s):
        return {"name": s.name, "sized": s.sized, "initialiser": s.initialiser, "section": s.section,
                "documentation": s.documentation, "fields": [self.field(f) for f in s.fields]}

    def all(self):
        header = self.header
        return {
            "format": FORMAT,
            "version": header.version,
            "sections": [{"name": name, "documentation": text} for name, text in header.sections.items()],
            "handles": [{"name": name, "freed_by": self.frees.get(name)} for name in header.handles],
            "enumerations": [self.enumeration(e) for e in header.enumerations],
            "structs": [self.struct(s) for s in header.structs],
            "functions": [self.function(f) for f in header.functions],
        }


def document(header):
    return Document(header).all()


def text(header):
    return json.dumps(document(header), indent=1, ensure_ascii=False) + "\n"
