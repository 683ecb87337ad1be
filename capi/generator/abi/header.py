"""tandem.h as data: sections, functions with what each parameter is, callbacks, structs with their defaults, constants.

What a type says is not said again: a pointer to const is read, `tdm_x** out` is a new handle, a list is followed by its
count. The rest is annotated in the header (TDM_NULLABLE and so on, explained there); the parser refuses what it does not
know, so that nothing is described wrongly in silence.
"""
import dataclasses
import pathlib
import re

COMMENT = re.compile(r"/\*.*?\*/", re.S)
SECTION = re.compile(r"/\* -{10,} (.+?) \*/")
OF_PARAMETERS = ("TDM_NULLABLE_ELEMENTS", "TDM_NULLABLE", "TDM_MAYBE", "TDM_INOUT", "TDM_BORROWED",
                 "TDM_KEPT", "TDM_OPAQUE", "TDM_COUNT", "TDM_CALLED")
OF_FUNCTIONS = ("TDM_BLOCKS", "TDM_THREAD_SAFE")
ANNOTATION = re.compile(rf"\b({'|'.join(OF_PARAMETERS)})\b(?:\(([^()]*)\))?\s*")
DEPRECATED = re.compile(r'\bTDM_DEPRECATED\(\s*(?:"[^"]*"[\s,]*)+\)')
# Macros that declarations are made of.
NO_CONSTANTS = {"TDM_API", "TDM_DEPRECATED", *OF_PARAMETERS, *OF_FUNCTIONS}
COUNT = re.compile(r"(?!(?:struct|world|batch)_size$)(?:\w+_)?(?:count|size|bytes|room|ndim)$")
CALLED = {"here", "autograd", "loader", "work", "rpc", "any", "never"}
NUMBERS = {"int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "size_t", "int"}


class Unknown(SystemExit):
    """Something in the header that has no meaning here."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """Of a function or a callback, or the field of a struct: the same things can be said of them."""
    type: str                  # as C has it, without annotations; of a callback all of its declarator
    name: str
    kind: str                  # "integer", "real", "string", "handle", "struct", "memory", "opaque", "callback", "union"
    about: str = ""            # the handle's, struct's, enumeration's or number's type
    direction: str = "in"      # "in", "out", "inout"
    nullable: bool = False
    maybe: bool = False        # of what comes out: it may be NULL, and that is no error
    list: bool = False
    nullable_elements: bool = False
    count: str = ""            # what has a list's or memory's length: parameters, or their product
    owned: bool = False        # of what comes out: who asked for it frees it
    kept: bool = False         # memory that is used after the call as well
    called: str = ""           # of a callback: when, and on which thread
    callback: "Function" = None
    default: str = None        # of a field: what _INIT has for it
    documentation: str = ""
    members: tuple = ()        # of a union

    @property
    def declaration(self):
        return self.type if self.kind == "callback" else f"{self.type} {self.name}"


@dataclasses.dataclass(frozen=True)
class Function:
    result: str
    name: str
    parameters: tuple
    section: str = ""
    documentation: str = ""    # the comment that stands for it, which may stand before others as well
    own_comment: bool = False  # it stands right before, or behind, this function
    blocks: bool = False
    thread_safe: bool = False
    deprecated: bool = False

    @property
    def fallible(self):
        """Whether it says how it went; tdm_error_create() gives the error that it was asked for."""
        return self.result == "tdm_error*" and self.name != "tdm_error_create"

    @property
    def text(self):
        """The parameters as C declares them."""
        return ", ".join(p.declaration for p in self.parameters) or "void"

    @property
    def arguments(self):
        return ", ".join(p.name for p in self.parameters)

    @property
    def initialises(self):
        """The struct that it initialises, for which no core is needed."""
        match = re.match(r"(tdm_\w+)_init$", self.name)
        return match.group(1) if match and self.parameters[0].about == match.group(1) else None


@dataclasses.dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple
    section: str
    documentation: str
    initialiser: str = ""      # its _INIT macro

    @property
    def sized(self):
        """Begins with struct_size: it may grow."""
        return self.fields[0].name == "struct_size"


@dataclasses.dataclass(frozen=True)
class Constant:
    name: str
    number: int
    documentation: str = ""


@dataclasses.dataclass(frozen=True)
class Enumeration:
    name: str                  # of the type; "" for constants by themselves
    type: str                  # that it is
    constants: tuple
    section: str
    documentation: str


def split(text):
    """At commas outside of parentheses and braces."""
    depth, start = 0, 0
    for i, c in enumerate(text):
        depth += (c in "({") - (c in ")}")
        if c == "," and depth == 0:
            yield text[start:i].strip()
            start = i + 1
    if text[start:].strip():
        yield text[start:].strip()


def plain(comment):
    """A comment's text on one line."""
    first, *others = comment[2:-2].strip().splitlines() or [""]
    return " ".join([first] + [re.sub(r"^\s*\*(?: |$)", "", line) for line in others]).strip()


class Header:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.source = self.path.read_text(encoding="utf-8")
        self.text = COMMENT.sub("", self.source)
        self.handles = re.findall(r"^typedef struct (tdm_\w+) \1;", self.text, flags=re.M)
        self.integers = re.findall(r"^typedef u?int\d+_t (tdm_\w+);", self.text, flags=re.M)
        self.macros = set(re.findall(r"^#define (TDM_\w+)", self.text, flags=re.M)) - NO_CONSTANTS
        self._struct_names = re.findall(r"^typedef struct (tdm_\w+) \{", self.text, flags=re.M)
        self._initialisers = self._read_initialisers()
        self.enumerations, self.structs, self.functions = [], [], []
        self._read()

    @property
    def version(self):
        """ "0.1", the name of a frozen release: what is added within it stays compatible too."""
        numbers = dict(re.findall(r"#define TDM_VERSION_(MAJOR|MINOR) (\d+)", self.text))
        return f"{numbers['MAJOR']}.{numbers['MINOR']}"

    @property
    def constants(self):
        return {c.name: c.number for e in self.enumerations for c in e.constants}

    @property
    def growing(self):
        return {s.name for s in self.structs if s.sized}

    @property
    def initialisers(self):
        """type → its _INIT macro."""
        return {s.name: s.initialiser for s in self.structs if s.initialiser and s.sized}

    @property
    def every_function(self):
        """C: a table of all functions."""
        rows = "".join(f'  {{"{f.name}", (void (*)(void)){f.name}}},\n' for f in self.functions)
        return f"static const struct {{ const char* name; void (*function)(void); }} every_function[] = {{\n{rows}}};\n"

    def function(self, name):
        return next(f for f in self.functions if f.name == name)

    def _read_initialisers(self):
        """macro → the values in its braces, with where it stands in the file's text forgotten."""
        joined = self.text.replace("\\\n", " ")
        return {name: [" ".join(value.split()) for value in split(body)]
                for name, body in re.findall(r"^#define (TDM_\w+_INIT)\s+\{(.*)\}\s*$", joined, flags=re.M)}

    def _read(self):
        """Goes through the file: comments, and what follows them. What is left at the end must mean nothing."""
        section, comment, ends, left, at = "", "", -1, [], 0
        self.sections = {}
        declared = re.compile(
            r"(?P<comment>/\*.*?\*/)|^(?P<function>TDM_API\s[^;{]+;)|^(?P<struct>typedef struct (?P<name>tdm_\w+) \{.*?^\} \w+;)"
            r"|^(?:typedef (?P<width>u?int\d+_t) (?P<type>tdm_\w+);\s*(?P<between>/\*[^*]*\*/\s*)?)?(?P<enum>enum\s*\{.*?\};)",
            re.S | re.M)
        for match in declared.finditer(self.source):
            left.append(self.source[at:match.start()])
            if re.search(r"\n\s*\n", left[-1]) and not match["comment"] and ends != at:
                comment = ""  # it stands for what follows it without an empty line between
            at = match.end()
            if match["comment"]:
                title = SECTION.fullmatch(match["comment"])
                if title:
                    section, comment = title.group(1), ""
                elif self._begins_a_line(match.start()):
                    comment, ends = plain(match["comment"]), at
                    self.sections[section] = f"{self.sections.get(section, '')}\n{comment}".strip()
                elif self.functions and left[-1].strip() == "" and "\n" not in left[-1]:
                    last = self.functions[-1]  # behind it
                    text = plain(match["comment"])
                    self.functions[-1] = dataclasses.replace(last, own_comment=True, documentation=text if not last.own_comment
                                                             else f"{last.documentation} {text}")
                continue
            own = ends >= 0 and self.source[ends:match.start()].strip() == ""
            where = {"section": section, "documentation": comment}
            if match["function"]:
                self.functions.append(self._function(COMMENT.sub("", match["function"]), own_comment=own, **where))
            elif match["struct"]:
                self.structs.append(self._struct(match["name"], match["struct"], **where))
            else:
                # A type's comment stands before its typedef; the enumerators' own within.
                if match["between"]:
                    where["documentation"] = plain(match["between"].strip())
                self.enumerations.append(Enumeration(match["type"] or "", match["width"] or "int", tuple(self._enumerators(match["enum"])), **where))
        self._refuse_the_rest("".join(left) + self.source[at:])
        self._refuse_lengths_of_nothing()

    def _refuse_lengths_of_nothing(self):
        """Lengths that stand elsewhere: a.b, field b of the struct that parameter a is, and f::b, what f was given as b."""
        fields = {s.name: {f.name for f in s.fields} for s in self.structs}
        given = {f.name: {p.name for p in f.parameters} | {""} for f in self.functions}  # f:: is what f returns
        for whole in self.functions + self.structs:
            parts = whole.parameters if isinstance(whole, Function) else whole.fields
            about = {p.name: p.about for p in parts}
            for p in parts:
                for before, mark, name in re.findall(r"(\w+)(\.|::)(\w*)", p.count):
                    if name not in (fields.get(about.get(before), ()) if mark == "." else given.get(before, ())):
                        raise Unknown(f"{self.path}: {whole.name}: the length of {p.name} is {p.count}, which is nowhere")

    def _refuse_the_rest(self, text):
        text = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.M)
        text = re.sub(r"^typedef (?:struct (tdm_\w+) \1|u?int\d+_t tdm_\w+);", "", text, flags=re.M)
        rest = re.sub(r'extern "C" \{|^\}', "", text, flags=re.M).strip()
        if rest:
            raise Unknown(f"{self.path}: cannot read: {rest.splitlines()[0]}")
        names = [f.name for f in self.functions]
        twice = {name for name in names if names.count(name) > 1}
        alone = set(self.integers) - {e.name for e in self.enumerations}
        misnamed = {f"TDM_{s.name[4:].upper()}_INIT" for s in self.structs}
        wrong = sorted(twice) + sorted(alone) + sorted(set(self._initialisers) - misnamed)
        if wrong:
            raise Unknown(f"{self.path}: declared twice, a type without its enumerators, or an _INIT without its struct: {wrong}")

    def _begins_a_line(self, at):
        return self.source[self.source.rfind("\n", 0, at) + 1:at].strip() == ""

    def _enumerators(self, text):
        """With their numbers, which the header writes out: one that counts on would move with the next."""
        body = text[text.index("{") + 1:text.rindex("}")]
        for item in split(COMMENT.sub("", body)):
            match = re.fullmatch(r"(TDM_\w+)\s*=\s*(-?\d+)", item)
            if not match:
                raise Unknown(f"{self.path}: an enumerator without a number of its own: {item}")
            beside = re.search(rf"\b{match.group(1)}\s*=\s*-?\d+,?[ ]*(/\*.*?\*/)", body, flags=re.S)
            yield Constant(match.group(1), int(match.group(2)), plain(beside.group(1)) if beside else "")

    def _struct(self, name, text, section, documentation):
        body = text[text.index("{") + 1:text.rindex("}")]
        initialiser = f"TDM_{name[4:].upper()}_INIT"
        fields = []
        for declaration, beside in self._declarations(body):
            for one in self._each(declaration):
                fields.append(dataclasses.replace(self._parameter(one, f"{name}: {one}", True), documentation=beside))
        fields = self._with_counts(fields, name)
        values = self._initialisers.get(initialiser, [])
        if values:  # where there are fewer, the rest is zero; too many are the compiler's to refuse
            values += ["0"] * (len(fields) - len(values))
            fields = [dataclasses.replace(f, default=v) for f, v in zip(fields, values)]
        return Struct(name, tuple(fields), section, documentation, initialiser if values else "")

    @staticmethod
    def _declarations(body):
        """(field, the comment on its line), unions and structs inside whole."""
        depth, start, found = 0, 0, []
        bare = COMMENT.sub(lambda m: " " * len(m.group()), body)
        for i, c in enumerate(bare):
            depth += (c in "{(") - (c in ")}")
            if c == ";" and depth == 0:
                beside = re.match(r"[ ]*(/\*.*?\*/)", body[i + 1:], flags=re.S)
                # A comment of its own line, before the field.
                above = re.findall(r"\n[ ]*(/\*.*?\*/)[ ]*(?=\n)", body[start:i], flags=re.S)
                said = [plain(one) for one in above[-1:] + ([beside.group(1)] if beside else [])]
                found.append((" ".join(bare[start:i].split()), " ".join(said)))
                start = i + 1
        return found

    @staticmethod
    def _each(declaration):
        """`int64_t a, b` as two."""
        if "{" in declaration or "(*" in declaration:
            return [declaration]
        first, *others = split(declaration)
        type_ = re.match(r"(.*?)\w+$", first).group(1)
        return [first] + [type_ + other for other in others]

    def _function(self, text, **where):
        declaration = " ".join(DEPRECATED.sub("", text).removeprefix("TDM_API").rstrip(";").split())
        marks = {}
        for mark, name in (("TDM_BLOCKS", "blocks"), ("TDM_THREAD_SAFE", "thread_safe")):
            declaration, count = re.subn(rf"\b{mark}\s+", "", declaration)
            marks[name] = count > 0
        match = re.match(r"(.*?)\s*\b(tdm_\w+)\((.*)\)$", declaration)
        if not match:
            raise Unknown(f"{self.path}: cannot read the declaration: {declaration}")
        result, name, parameters = match.groups()
        if result != "void":
            self.meaning(result, name)
        return Function(result, name, self._parameters(parameters, name), deprecated=bool(DEPRECATED.search(text)),
                        **marks, **where)

    def _parameters(self, text, where, of_callback=False):
        known = [self._parameter(one, f"{where}: {one}", of_callback) for one in split(text) if one != "void"]
        return tuple(self._with_counts(known, where))

    def _parameter(self, text, where, of_callback=False):
        """What a callback gives stays its own."""
        head = text.split("(*")[0]
        said = dict(ANNOTATION.findall(head))
        text = ANNOTATION.sub("", head) + text[len(head):]
        if "(*" in text:
            return self._callback(text, said, where)
        if text.startswith("union"):
            return self._union(text, where)
        if not re.fullmatch(r"[\w* ]*[* ]\w+", text):
            raise Unknown(f"{self.path}: {where}: cannot read '{text}'")
        name = re.search(r"(\w+)$", text).group(1)
        type_ = text[:-len(name)].strip()
        kind, about, direction, is_list = self.meaning(type_, where)
        if "TDM_OPAQUE" in said or name == "user_data":
            kind, direction = "opaque", "out" if type_.endswith("**") else "in"
        elif type_ == "void*":
            direction = "out"  # what is only read is const
        nullable = "TDM_NULLABLE" in said or name == "user_data"
        nullable |= kind == "struct" and name == "options" and "*" in type_ and not is_list
        # Whoever frees a handle may be given none.
        nullable |= kind == "handle" and re.fullmatch(r"\w+_free", where.split(":")[0]) is not None
        out = direction == "out"
        owned = out and kind == "handle" and not of_callback and not type_.startswith("const") and "TDM_BORROWED" not in said
        made = Parameter(type_, name, kind, about, "inout" if "TDM_INOUT" in said else direction, nullable=nullable,
                         maybe="TDM_MAYBE" in said, list=is_list, nullable_elements="TDM_NULLABLE_ELEMENTS" in said,
                         count=said.get("TDM_COUNT", ""), owned=owned, kept="TDM_KEPT" in said)
        self._refuse_nonsense(made, said, where, of_callback)
        return made

    def _refuse_nonsense(self, made, said, where, of_callback):
        pointer = "*" in made.type
        wrong = {
            "TDM_CALLED": True,
            "TDM_NULLABLE": not pointer, "TDM_COUNT": not pointer, "TDM_KEPT": not pointer,
            "TDM_OPAQUE": not made.type.startswith("void*"),
            "TDM_MAYBE": made.direction != "out", "TDM_INOUT": not pointer or made.type.startswith("const"),
            "TDM_BORROWED": made.direction != "out" or of_callback,
            "TDM_NULLABLE_ELEMENTS": made.type.count("*") != 2,
        }
        for mark in said:
            if wrong.get(mark, False):
                raise Unknown(f"{self.path}: {where}: {mark} means nothing here")

    def _union(self, text, where):
        match = re.fullmatch(r"union \{(.*)\} ?(\w*)", text)
        if not match:
            raise Unknown(f"{self.path}: cannot read the union: {where}")
        members = []
        for declaration, beside in self._declarations(match.group(1)):
            inner = re.fullmatch(r"struct \{(.*)\} (\w+)", declaration)
            if inner:
                fields = [self._parameter(one, where, True) for whole, _ in self._declarations(inner.group(1))
                          for one in self._each(whole)]
                members.append(Parameter("struct", inner.group(2), "union", members=tuple(self._with_counts(fields, where))))
            else:
                members.append(self._parameter(declaration, where, True))
        return Parameter("union", match.group(2), "union", members=tuple(members))

    def _callback(self, text, said, where):
        match = re.fullmatch(r"(.*?)\s*\(\*(\w+)\)\((.*)\)", text)
        if not match:
            raise Unknown(f"{self.path}: cannot read the callback: {where}")
        result, name, parameters = match.groups()
        called = said.get("TDM_CALLED", "any" if name == "destroy" else "")
        if called not in CALLED:
            raise Unknown(f"{self.path}: {where}: says nothing with TDM_CALLED() of when it is called")
        own = Function(result, name, self._parameters(parameters, where, True))
        bare = f"{result} (*{name})({own.text})"
        return Parameter(bare, name, "callback", nullable="TDM_NULLABLE" in said or name == "destroy" and called == "any",
                         called=called, callback=own)

    def meaning(self, type_, where):
        """What a type says: (kind, about, direction, whether it is surely a list)"""
        bare = re.sub(r"\bconst\b", "", type_).replace(" ", "")
        name = bare.rstrip("*")
        stars, first, inner = len(bare) - len(name), type_.startswith("const"), "* const*" in type_
        if bare == "char*":
            return "string", "", "in", False
        if bare == "char**" and inner:
            return "string", "", "in", True
        if name == "void":
            if stars == 2 and inner:
                return "memory", "", "in", True
            return "memory", "", "out" if stars == 2 else "in", False
        if name in self.handles:
            if stars == 1:
                return "handle", name, "in", False
            if stars == 2:
                return "handle", name, "in" if inner else "out", inner
        kind = "integer" if name in NUMBERS or name in self.integers else \
            "real" if name in ("double", "float") else "struct" if name in self._struct_names else ""
        if not kind or stars > 1:
            raise Unknown(f"{self.path}: {where}: the type '{type_}' is not known")
        return kind, name, "in" if stars == 0 or first else "out", stars == 1 and first and kind != "struct"

    def _with_counts(self, parameters, where):
        """Lists, and memory, know what has their length."""
        known, names = [], {p.name for p in parameters}
        for i, p in enumerate(parameters):
            following = parameters[i + 1:]
            if p.kind in ("callback", "union", "opaque", "string") and not p.list or "*" not in p.type:
                known.append(p)
                continue
            is_list, count = p.list, p.count
            nearest = next((q for q in following if COUNT.match(q.name) and q.kind == "integer"), None)
            at_once = bool(following) and following[0] is nearest
            surely = is_list or p.kind == "memory" and p.type.count("*") == 1
            if not count and nearest and (surely or at_once and (p.direction != "in" or p.kind == "struct")):
                count = nearest.name
            for one in filter(str.strip, re.split(r"[*.\s]+", count)):
                # Those that stand elsewhere are looked for when all is read.
                if "." not in count and "::" not in count and one not in names and not one.isdigit():
                    raise Unknown(f"{self.path}: {where}: the length of {p.name} is {count}, which is nowhere")
            is_list = is_list or bool(count) and p.kind not in ("memory", "string")
            if is_list and not count or p.kind == "memory" and not count and p.type.count("*") == 1:
                raise Unknown(f"{self.path}: {where}: says nothing of the length of {p.name}")
            # NULL for options means the defaults, not for a list of them.
            nullable = p.nullable and not (p.name == "options" and is_list)
            known.append(dataclasses.replace(p, list=is_list, count=count, nullable=nullable))
        return known
