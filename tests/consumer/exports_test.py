"""What a shared library shows: all that the public headers declare, and nothing else.

  exports_test.py <nm> <static library> <shared library> <folder with public headers>...

The static library is of the same sources: a public function that is in it and not shown has been declared without
CUSTODIAN_EXPORT.
"""

import pathlib
import re
import subprocess
import sys


def symbols(nm, *arguments):
    """The kinds and names of defined symbols."""
    lines = subprocess.run([nm, "--demangle", "--defined-only", *arguments], check=True, capture_output=True, text=True)
    for line in lines.stdout.splitlines():
        if match := re.match(r"[0-9a-f]+ (\w) (.+)", line):
            yield match.groups()


def without(pattern, text):
    """The text without what matches the pattern; nested matches are removed from the inside out."""
    while (shorter := re.sub(pattern, "", text)) != text:
        text = shorter
    return text


def plain(name):
    """custodian::BasicSharedValue::load, for "custodian::BasicSharedValue<int>::load(custodian::OperationOptions) const"."""
    name = name.replace("[abi:cxx11]", "").replace("operator<<", "operator_out").replace("(anonymous namespace)", "")
    name = re.sub(r"^(vtable|VTT|typeinfo|typeinfo name|guard variable) for ", "", name)
    name = without(r"<[^<>]*>", name)
    name = without(r"\([^()]*\)", name)
    # A function template's name follows its return type.
    return re.sub(r" const$", "", name).split(" ")[-1]


SCOPE = re.compile(
    r"""^(?:inline\ )?namespace\ (?P<namespace>[\w:]+)\ \{
      | ^(?:class|struct)\ (?:\[\[\w+\]\]\ )?(?:CUSTODIAN_EXPORT\ )?(?P<type>\w+)[^;{]*\{
      | ^(?:[\w\[][^(\n]*[ &*])?(?P<function>operator\W+|\w+)\(  # after what it returns, perhaps on another line
      | [{}]""",
    re.MULTILINE | re.VERBOSE,
)


def declared(folders):
    """The classes and functions of namespaces that the headers declare, by their full names."""
    names = set()
    for header in (file for folder in folders for file in pathlib.Path(folder).rglob("*.hpp")):
        text = re.sub(r"//.*", "", header.read_text()).replace("operator<<", "operator_out")
        # Each open brace has an entry: the name of its namespace, or None.
        scopes = []
        for match in SCOPE.finditer(text):
            if name := match["type"] or match["function"]:
                names.add("::".join([*filter(None, scopes), name]))
            if match[0].endswith("{"):
                scopes.append(match["namespace"])
            elif match[0] == "}":
                scopes.pop()
    return names


def is_public(name, public):
    """Whether the name is public itself, or is that of a member of a public class."""
    return name in public or any(name.startswith(owner + "::") for owner in public)


def main(nm, static, shared, *folders):
    public = declared(folders)
    shown = list(symbols(nm, "--dynamic", shared))
    names = {name for _, name in shown}
    wrong = []
    for kind, name in shown:
        ours = plain(name).startswith("custodian::")
        if ours and not is_public(plain(name), public):
            wrong.append(f"is shown, and is in no public header: {name}")
        # Inline functions of other libraries are in each library that uses them; tables, types and static variables
        # must be the same in all. Other kinds of foreign symbols are a fault.
        elif not ours and kind in "TBDR":
            wrong.append(f"is shown, and is not ours: {name}")
    for kind, name in symbols(nm, "--extern-only", static):
        if kind == "T" and name not in names and is_public(plain(name), public):
            wrong.append(f"is in a public header, and is not shown: {name}")
    ours = sum(plain(name).startswith("custodian::") for name in names)
    print(f"{pathlib.Path(shared).name}: {len(names)} symbols, {ours} of them ours")
    for line in wrong:
        print(line)
    # A test that finds no symbols must not pass.
    return 1 if wrong or ours < 10 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
