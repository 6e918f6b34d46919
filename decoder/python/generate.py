#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Tables of what the public headers declare, for the Python module; and its type stubs.

usage: generate.py numbers HEADER... > tables.h
       generate.py tables HEADER... > tables.c
       generate.py stubs TEMPLATE HEADER... > __init__.pyi

A structure becomes a class, its members attributes, an enumeration an IntEnum, a status an
exception, a view the method of a dump, and the members of its options keywords.  Comments become
docstrings.  What this script does not understand in a header ends the build.
"""

import dataclasses
import keyword
import re
import sys

UNSIGNED = {"uint64_t", "uint32_t", "size_t", "__u64", "__u32", "__u16", "__u8", "unsigned int"}
SIGNED = {"int", "int64_t"}
COMMENTED = r"(?:/\*\*((?:(?!\*/).)*)\*/\n)?"
STRUCT = re.compile(COMMENTED + r"struct btsrec_(\w+) \{\n(.*?)\n\};", re.DOTALL)
ENUM = re.compile(COMMENTED + r"enum btsrec_(\w+) \{\n(.*?)\n\};", re.DOTALL)
EACH = re.compile(r"btsrec_(\w+)_each\(struct btsrec \*\w+, (struct btsrec \*b, )?"
                  r"(?:const struct btsrec_(\w+) \*opts,\s+)?btsrec_(\w+)_fn fn,\s+void \*arg\);")
MEMBER = re.compile(r"(const )?(?:(struct|enum) )?(unsigned int|\w+) (\*const \*|\*)?(\w+)"
                    r"(?:\[(\w+)\])?;$", re.DOTALL)
# What the library asks of a program in C: functions, and where it puts text.  Branches are columns.
NOT_VALUES = {"branches", "image", "resolver", "sink", "link", "gdb", "export", "extract", "info", "report"}


@dataclasses.dataclass
class Member:
    """kind: the word of enum member_kind; of: a structure or enumeration; arms: kinds of event."""

    name: str
    kind: str
    of: str = ""
    doc: str = ""
    has: str = ""
    count: str = ""
    arms: list = dataclasses.field(default_factory=list)

    @property
    def python_name(self):
        return self.name + "_" if keyword.iskeyword(self.name) else self.name


@dataclasses.dataclass
class Struct:
    name: str
    doc: str
    members: list
    is_options: bool

    @property
    def class_name(self):
        return camel(self.name)

    @property
    def is_sized(self):
        return self.members[0].name == "size"

    def visible(self):
        """Members that are attributes or keywords: not sizes, counts of others and flags."""
        hidden = {"size", "format"} | {member.has for member in self.members}
        hidden |= {member.count for member in self.members}
        return [member for member in self.members
                if member.name not in hidden and not member.name.startswith("reserved")]


def camel(name):
    return "".join(word.capitalize() for word in name.split("_"))


def plain(comment):
    """The words of a comment without its marks."""
    return " ".join(re.sub(r"^/\*+|\*/$|^\s*\*", "", comment or "", flags=re.MULTILINE).split())


def described(comment):
    """A description and those of its "@member: text"."""
    first, *rest = re.split(r"^[ \t]*\*? ?@(\w+)(?:, @\w+)*:", comment or "", flags=re.MULTILINE)
    title = re.sub(r"^(?:struct|enum) btsrec_\w+ - ", "", plain(first))
    return title, {name: plain(text) for name, text in zip(rest[::2], rest[1::2])}


def declarations(body):
    """Of each declaration its text and comment, and whether it is the arm of a union."""
    found, before, in_union = [], "", False
    for token in re.finditer(r"/\*.*?\*/|union \{|\};|[^;/]+;", body, re.DOTALL):
        text = token[0].strip()
        lead = body[:token.start()].rsplit("\n", 1)[-1]
        if text.startswith("/*"):
            if found and (lead.strip() or lead.count("\t") > 1):
                found[-1][1] = f"{found[-1][1]} {plain(text)}".strip()
            else:
                before = plain(text)
        elif text in ("union {", "};"):
            in_union = text == "union {"
        else:
            if text.startswith("union {"):
                in_union, text = True, text[len("union {"):].strip()
            found.append([text, before, in_union])
            before = ""
    return found


def member_of(text, doc):
    found = MEMBER.match(text)
    if not found:
        raise SystemExit(f"generate.py: not understood: {text}")
    _, tag, type_name, pointer, name, length = found.groups()
    base = re.sub(r"^btsrec_", "", type_name)
    if tag == "enum":
        return Member(name, "ENUM", base, doc)
    if tag == "struct":
        return Member(name, "POINTER" if pointer else "STRUCT", base, doc)
    if type_name == "char":
        return Member(name, {None: "CHARS", "*": "TEXT", "*const *": "TEXTS"}[pointer], "", doc)
    if type_name == "bool":
        return Member(name, "BOOL", "", doc)
    if type_name not in UNSIGNED | SIGNED:
        raise SystemExit(f"generate.py: not understood: {text}")
    if length:
        return Member(name, "BYTES" if type_name == "__u8" else "UINTS", "", doc)
    if pointer:
        return Member(name, "UINTS", "", doc)
    return Member(name, "INT" if type_name in SIGNED else "UINT", "", doc)


def join(members):
    """Which member says that another is there, and how many there are."""
    names = {member.name for member in members}
    for member in members:
        # The count of a pointer to one structure is of something else.
        if f"nr_{member.name}" in names and (member.kind != "POINTER" or
                                             f"@nr_{member.name}" in member.doc):
            member.count = f"nr_{member.name}"
        if f"{member.name}_bytes" in names and member.kind in ("TEXT", "BYTES"):
            member.count = f"{member.name}_bytes"
        for flag in (name for name in names if name.startswith("has_")):
            word = flag[len("has_"):]
            if re.fullmatch(rf"{word}(_.*)?|.*_{word}", member.name) and member.name != flag:
                member.has = flag
    return members


class Headers:
    def __init__(self, texts):
        text = "\n".join(texts)
        self.enums = {}
        for doc, name, body in ENUM.findall(text):
            words = re.findall(r"(BTSREC_\w+)(?: = \d+)?,(?:\s*/\*(.*?)\*/)?", body, re.DOTALL)
            self.enums[name] = (described(doc)[0], [(word, plain(why)) for word, why in words])
        self.structs = {}
        for doc, name, body in STRUCT.findall(text):
            if name not in NOT_VALUES:
                self.add_struct(name, doc, body)
        self.views = [found.groups() for found in EACH.finditer(text)]
        self.view_docs = {name: plain(doc) for name, doc in re.findall(
            r" \* btsrec_(\w+)\(\) - ((?:(?!\n \*\n|\n \* btsrec_|\*/).)*)", text, re.DOTALL)}

    def add_struct(self, name, comment, body):
        doc, docs = described(comment)
        members = []
        for text, member_doc, is_arm in declarations(body):
            member = member_of(text, member_doc)
            member.doc = member.doc or docs.get(member.name, "")
            if is_arm:
                member.arms = self.arms(name, member.name)
            members.append(member)
        if name in self.structs:
            raise SystemExit(f"generate.py: two structures have the name {name}")
        self.structs[name] = Struct(name, doc, join(members), False)

    def arms(self, struct, member):
        """The kinds of which a union holds this: the first word of the comment of each."""
        return [word for word, why in self.enums[f"{struct}_kind"][1]
                if re.match(rf"{member}\b", why)]

    def prefix(self, enum):
        words = [word.split("_") for word, _ in self.enums[enum][1]]
        nr = 0
        while all(len(word) > nr + 1 and word[nr] == words[0][nr] for word in words):
            nr += 1
        return len("_".join(words[0][:nr])) + 1

    def enumerators(self, enum):
        return [(word[self.prefix(enum):], word, why) for word, why in self.enums[enum][1]]

    def errors(self):
        for short, word, why in self.enumerators("status"):
            if short.startswith("ERR_"):
                yield camel(short[4:].lower()) + "Error", word, why

    def options(self):
        """The options of views, and the filter that they point to: keywords, not classes."""
        return {options for _, _, options, _ in self.views if options} | {"filter"}

    def values(self):
        return [struct for name, struct in self.structs.items() if name not in self.options()]

    def keywords(self, options):
        """Names and members of options, and in the place of the filter its members."""
        own = {member.name for member in self.structs[options].visible()}
        for member in self.structs[options].visible():
            if member.of != "filter":
                yield member.python_name, member
                continue
            for key in self.structs["filter"].visible():
                yield "filter_" * (key.name in own) + key.python_name, key


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_members(headers, struct):
    print(f"static const struct member members_{struct.name}[] = {{")
    for member in struct.visible():
        fields = [f".name = {quoted(member.python_name)}", f".doc = {quoted(member.doc)}",
                  f".kind = MEMBER_{member.kind}",
                  f".at = offsetof(struct btsrec_{struct.name}, {member.name})",
                  f".bytes = sizeof(((struct btsrec_{struct.name} *)NULL)->{member.name})"]
        if member.of in headers.enums:
            fields.append(f".of = ENUM_{member.of}")
        elif member.of:
            fields.append(f".of = STRUCT_{member.of}")
        for key, of in (("has_at", member.has), ("count_at", member.count)):
            if of:
                fields.append(f".{key} = 1 + offsetof(struct btsrec_{struct.name}, {of})")
        if member.count:
            fields.append(f".count_bytes = sizeof(((struct btsrec_{struct.name} *)NULL)"
                          f"->{member.count})")
        if member.arms:
            fields.append(".arms = " + " | ".join(f"1U << {arm}" for arm in member.arms))
        print("\t{ " + ", ".join(fields) + " },")
    print("};\n")


def print_numbers(headers):
    print("/* Made by generate.py of the headers. */\nenum enum_number {")
    for name in headers.enums:
        print(f"\tENUM_{name},")
    print("\tNR_ENUMS,\n};\n\nenum struct_number {")
    for name in headers.structs:
        print(f"\tSTRUCT_{name},")
    print("\tNR_STRUCTS,\n};\n")
    for name, nr in (("enum", "NR_ENUMS"), ("struct", "NR_STRUCTS"),
                     ("error", len(list(headers.errors()))), ("view", len(headers.views))):
        if name in ("error", "view"):
            print(f"#define NR_{name.upper()}S {nr}")
            nr = f"NR_{name.upper()}S"
        print(f"extern const struct {name}_table {name}_tables[{nr}];")


def print_tables(headers):
    print("/* Made by generate.py of the headers. */\n#include \"core.h\"\n")
    for name, (_, _) in headers.enums.items():
        print(f"static const struct enumerator enumerators_{name}[] = {{")
        for short, word, _ in headers.enumerators(name):
            print(f"\t{{ {quoted(short)}, {word} }},")
        print("};\n")
    print("const struct enum_table enum_tables[NR_ENUMS] = {")
    for name in headers.enums:
        print(f"\t{{ {quoted(camel(name))}, enumerators_{name}, ARRAY_SIZE(enumerators_{name}) }},")
    print("};\n")
    for struct in headers.structs.values():
        print_members(headers, struct)
    print("const struct struct_table struct_tables[NR_STRUCTS] = {")
    for name, struct in headers.structs.items():
        is_value = name not in headers.options()
        print(f"\t{{ {quoted('btsrec.' + struct.class_name)}, {quoted(struct.doc)}, members_{name}, "
              f"ARRAY_SIZE(members_{name}), sizeof(struct btsrec_{name}), "
              f"{int(struct.is_sized)}, {int(is_value)} }},")
    print("};\n\nconst struct error_table error_tables[NR_ERRORS] = {")
    for name, word, why in headers.errors():
        print(f"\t{{ {word}, {quoted('btsrec.' + name)}, {quoted(why)} }},")
    print("};\n")
    print_views(headers)


def print_views(headers):
    for name, second, options, value in headers.views:
        if options:
            print(f"_Static_assert(sizeof(struct btsrec_{options}) <= OPTIONS_MAX_BYTES, "
                  "\"options are larger\");")
        print(f"static bool take_{name}(void *arg, const struct btsrec_{value} *value)")
        print(f"{{\n\treturn take(arg, STRUCT_{value}, value);\n}}\n")
        arguments = ["rec", *(["other"] if second else []), *(["opts"] if options else [])]
        print(f"static enum btsrec_status run_{name}(struct btsrec *rec, struct btsrec *other, "
              "const void *opts, void *arg)")
        unused = "".join(f"\t(void){word};\n" for word in ("other", "opts")
                         if word not in arguments)
        print(f"{{\n{unused}\treturn btsrec_{name}_each({', '.join(arguments)}, take_{name}, "
              "arg);\n}\n")
    print("const struct view_table view_tables[NR_VIEWS] = {")
    for name, second, options, _ in headers.views:
        print(f"\t{{ {quoted(name)}, {quoted(headers.view_docs[name])}, "
              f"{'STRUCT_' + options if options else -1}, {int(bool(second))}, run_{name} }},")
    print("};")


# --- Stubs ---

PYTHON_TYPES = {"UINT": "int", "INT": "int", "BOOL": "bool", "TEXT": "str | None", "CHARS": "str",
                "BYTES": "bytes", "UINTS": "tuple[int, ...]", "TEXTS": "tuple[str, ...]"}


def python_type(headers, member):
    if member.of in headers.enums:
        name = camel(member.of)
    elif member.of and member.count:
        name = f"tuple[{camel(member.of)}, ...]"
    elif member.of:
        name = camel(member.of) + (" | None" if member.kind == "POINTER" else "")
    else:
        name = PYTHON_TYPES[member.kind]
    is_optional = member.has or member.arms
    return name + " | None" if is_optional and "None" not in name else name


def keyword_type(headers, member):
    if member.of == "span":
        return "Sequence[tuple[int, int]]"
    if member.of in headers.enums:
        return camel(member.of)
    return {"UINTS": "Iterable[int]", "TEXT": "str", "BOOL": "bool"}.get(member.kind, "int")


def print_stubs(headers, template):
    enums, classes, errors, views = [], [], [], []
    for name in headers.enums:
        enums.append(f"class {camel(name)}(IntEnum):")
        enums += [f"    {short}: int  # {why}".rstrip(" #") for short, _, why in
                  headers.enumerators(name)]
    for struct in headers.values():
        classes.append(f"class {struct.class_name}:\n    \"\"\"{struct.doc}\"\"\"")
        for member in struct.visible():
            classes.append(f"    {member.python_name}: {python_type(headers, member)}"
                           f"  # {member.doc}".rstrip(" #"))
    bases = {"InvalError": "Error, ValueError", "IoError": "Error, OSError",
             "NomemError": "Error, MemoryError"}
    for name, _, why in headers.errors():
        errors.append(f"class {name}({bases.get(name, 'Error')}):\n    \"\"\"{why}\"\"\"")
    for name, second, options, value in headers.views:
        words = [f"{word}: {keyword_type(headers, member)} = ..."
                 for word, member in headers.keywords(options)] if options else []
        value = headers.structs[value].class_name
        words = ["self", *(["other: Dump"] if second else []), "*",
                 f"each: Callable[[{value}], object] | None = ...", *words]
        views.append(f"    def {name}(\n        " + ",\n        ".join(words)
                     + f",\n    ) -> list[{value}]:\n        "
                     f"\"\"\"{headers.view_docs[name]}\"\"\"")
    for mark, lines in (("enums", enums), ("classes", classes), ("errors", errors),
                        ("views", views)):
        template = re.sub(rf"^ *# {mark}$", lambda _, text="\n".join(lines): text, template,
                          flags=re.MULTILINE)
    print(template, end="")


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("numbers", "tables", "stubs"):
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    texts = []
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    if sys.argv[1] == "numbers":
        print_numbers(Headers(texts))
    elif sys.argv[1] == "tables":
        print_tables(Headers(texts))
    else:
        print_stubs(Headers(texts[1:]), texts[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())
