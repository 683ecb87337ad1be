"""libabigail's description of a library (abidw's XML), and what is read from it."""
import pathlib
import subprocess
import xml.etree.ElementTree as xml

NAME = "libtandem.abixml"


def describe(library):
    """The description's text: without paths, and the same for the same library."""
    command = ["abidw", "--exported-interfaces-only", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs",
               "--no-parameter-names", "--type-id-style", "hash", str(library)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return text.replace(str(pathlib.Path(library).with_suffix(".c")), "tandem.h")


class Description:
    def __init__(self, text):
        self.root = xml.fromstring(text)
        self.types = {one.get("id"): one for one in self.root.iter() if one.get("id")}

    @property
    def functions(self):
        """Those whose types are known."""
        return {one.get("name") for one in self.root.iter("function-decl")}

    @property
    def structs(self):
        """name → (bytes, {field: (byte, type)}), of those of the C ABI."""
        found = {}
        for one in self.root.iter("class-decl"):
            if one.get("size-in-bits") and one.get("name").startswith("tdm_"):
                fields = {field.find("var-decl").get("name"): (int(field.get("layout-offset-in-bits")) // 8,
                                                               self.type(field.find("var-decl").get("type-id")))
                          for field in one.findall("data-member")}
                found[one.get("name")] = (int(one.get("size-in-bits")) // 8, fields)
        return found

    def type(self, identity):
        """As C writes it, or nearly."""
        one = self.types[identity]
        inner = one.get("type-id")
        if one.tag == "pointer-type-def":
            return self.type(inner) + "*"
        if one.tag == "qualified-type-def":
            return self.type(inner) + (" const" if one.get("const") == "yes" else " volatile")
        if one.tag == "array-type-def":
            return f"{self.type(inner)}[{one.get('size-in-bits')} bits]"
        if one.tag == "function-type":
            parameters = ", ".join(self.type(parameter.get("type-id")) for parameter in one.findall("parameter"))
            return f"{self.type(one.find('return').get('type-id'))} ({parameters})"
        return one.get("name")
