"""The Go front end. What is generated stands in the checkout, for Go's modules are what their repository has."""
from languages.go import forwarders, modules, names, networks, operators

TITLE = "Go"
# Files with this at their head which nothing writes any more are removed.
NOTES = [("go", operators.NOTE), ("go", forwarders.NOTE), ("go", names.NOTE), ("go", modules.NOTE)]


def in_checkout(api):
    files = {f"go/{path}": text for path, text in operators.files(api.typed).items()}
    files |= {f"go/{path}": text for path, text in modules.files(api.modules).items()}
    files |= {f"go/{path}": text for path, text in networks.files(api.networks).items()}
    files |= {f"go/internal/c/{name}": text for name, text in forwarders.files(api.header).items()}
    files["go/internal/names/table.go"] = names.file(api.header)
    return files


def operator_names(api):
    return {b.op.key: b.go for b in api.typed}
