"""Writes go/vision/networks.go and go/text/networks.go: of each family of networks a type and structs of options, of each
network a constructor."""
from languages.go.modules import NOTE, comment, default, struct, wrapped
from modules.networks import NETWORKS
from operators.naming import field, parameter


def go_type(option):
    """Opt where zero is another setting than the default."""
    if option.base == "string":
        return "string"
    plain = {"bool": "bool", "int": "int", "float": "float64"}[option.base]
    if option.may_be_none or option.default in (None, False, 0) or option.base == "int":
        return plain
    return f"gotorch.Opt[{plain}]"


def chosen(members):
    """Name and type of each option, and the default where all members share it."""
    for option in members[0].options:
        if option.required:
            continue
        same = all(o.default == option.default for m in members for o in m.options if o.name == option.name)
        if option.base == "string":
            told = f'"{option.default}" by default'
        else:
            told = default(option) if same else "a default of each size"
        yield field(option.name), go_type(option), told


def constructor(m, members):
    needed = [parameter(o.name) for o in m.options if o.required]
    taken = f"{', '.join(needed)} int, " if needed else ""
    options = f"{m.family}Options"
    told = f"New{m.name} makes a [{m.family}]{' ' + m.kind if len(members) > 1 else ''}. Source: {m.source}."
    chain = [f'.{"Parameter" if o.required else "Set"}("{o.name}", {parameter(o.name) if o.required else "o." + field(o.name)})'
             for o in m.options]
    return "\n".join([f"// {line}" for line in comment(told)] + [
        f"func New{m.name}({taken}options ...{options}) *{m.family} {{",
        "\to := bridge.First(options)",
        wrapped(f'\tm := registry.New("{m.package}.New{m.name}", "{m.type}")', chain),
        f"\treturn &{m.family}{{m.Create()}}", "}", ""])


def file(package, networks):
    families = {}
    for m in networks:
        families.setdefault(m.family, []).append(m)
    parts = [NOTE, f"package {package}\n", "import (\n\t\"tandem.example/gotorch\"\n"
             '\t"tandem.example/gotorch/internal/bridge"\n\t"tandem.example/gotorch/internal/registry"\n'
             '\t"tandem.example/gotorch/nn"\n)\n']
    for family, members in sorted(families.items()):
        members.sort(key=lambda m: list(NETWORKS).index(m.type))
        first = members[0]
        makers = ", ".join(f"[New{m.name}]" for m in members)
        parts.append("\n".join([f"// {line}" for line in comment(f"{family} {first.text}")] +
                               [f"type {family} struct{{ *nn.Native }}", ""]))
        parts.append(struct(f"{family}Options", comment(f"{family}Options of {makers}."), list(chosen(members))))
        parts += [constructor(m, members) for m in members]
    return "\n".join(parts)


def files(networks):
    """path below go/ → text"""
    return {f"{package}/networks.go": file(package, [m for m in networks if m.package == package])
            for package in sorted({m.package for m in networks})}
