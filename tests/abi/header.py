"""What tandem.h declares, read from its text: functions as capi/abi.py reads them, constants, structs.

    header.py HEADER    prints a table of all its functions, in C
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "capi"))
import abi  # noqa: E402


class Header:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.text = re.sub(r"/\*.*?\*/", "", self.path.read_text(encoding="utf-8"), flags=re.S)
        self.functions = abi.functions(str(path))

    @property
    def version(self):
        """ "0.1", the name of a frozen release: what is added within it stays compatible too."""
        numbers = dict(re.findall(r"#define TDM_VERSION_(MAJOR|MINOR) (\d+)", self.text))
        return f"{numbers['MAJOR']}.{numbers['MINOR']}"

    @property
    def constants(self):
        """Enumerators with their numbers, which the header writes out: one that counts on would move with the next."""
        found = {}
        for body in re.findall(r"\benum\s*\{(.*?)\}", self.text, flags=re.S):
            for item in filter(str.strip, body.split(",")):
                match = re.fullmatch(r"\s*(TDM_\w+)\s*=\s*(-?\d+)\s*", item)
                if not match:
                    sys.exit(f"{self.path}: an enumerator without a number of its own: {item.strip()}")
                found[match.group(1)] = int(match.group(2))
        return found

    @property
    def macros(self):
        return set(re.findall(r"^#define (TDM_\w+)", self.text, flags=re.M)) - {"TDM_API", "TDM_DEPRECATED"}

    @property
    def growing(self):
        """Structs that begin with struct_size: only they may grow."""
        return set(re.findall(r"typedef struct (tdm_\w+) \{\s*size_t struct_size;", self.text))

    @property
    def initialisers(self):
        """type → its _INIT macro."""
        by_macro = {f"TDM_{name[4:].upper()}_INIT": name for name in self.growing}
        return {by_macro[macro]: macro for macro in self.macros if macro in by_macro}

    @property
    def every_function(self):
        """C: a table of all functions."""
        rows = "".join(f'  {{"{f.name}", (void (*)(void)){f.name}}},\n' for f in self.functions)
        return f"static const struct {{ const char* name; void (*function)(void); }} every_function[] = {{\n{rows}}};\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(Header(sys.argv[1]).every_function)
