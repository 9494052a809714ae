#!/usr/bin/env python3
"""Draws mutants at random: patches that change one operator, condition, constant or statement of the library.

  tools/mutate.py draw --seed <s> --count <n> --to <folder>   the first n in the order of seed s, a patch each
  tools/mutate.py count                                       how many there are, by kind
  tools/mutate.py stale                                       the entries of tests/mutants/equivalent.json that fit no line

  --without-servers   names no suite of tests/integration
  --tree <folder>     the sources to change; this checkout, if it is not given

tools/check-mutants --random draws with it, builds and tests. A patch is as those in tests/mutants: Guard says where it is,
Killed-by which tests can notice it, the cheapest first. The same seed and tree give the same mutants in the same order.

What is changed: relational, logical and arithmetic operators, `!`, integer constants, true and false, conditions of `if`,
returned conditions, break and continue, and calls that stand by themselves. Only in bodies of functions, and not in comments,
strings, directives, attributes, static_assert, template arguments, types, what is logged, and spans of time: a pace that is a
little slower promises the same.

tests/mutants/equivalent.json lists what changes nothing: file, line (all lines that the mutant takes out), becomes (what it
puts there), reason, and `after`, the line in front, where the line alone stands in several places. It is never drawn.
"""

import argparse
import bisect
import collections
import difflib
import hashlib
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # write no files into the tree

from cpp_source import Source  # noqa: E402

TREE = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["recipes/src", "src"]
EQUIVALENT = "tests/mutants/equivalent.json"

# Test folders (of tests/scripted and tests/integration) that cover a source folder, if not only the folder of the same
# name.
REACHED_BY = {
    "acquire": ["locks", "lock_sets", "semaphores", "leader"],
    "async": ["locks", "semaphores", "leader"],
    "base": ["client", "lease"],
    "client": ["client", "lease", "authoring"],
    "cohort": ["cohort", "locks"],
    "local_handover": ["local_handover", "locks"],
    "locks": ["locks", "ensembles"],
    "ordering": ["locks", "inspect", "local_handover"],
    "session": ["client", "lease", "tls", "sasl"],
    "text": ["client"],
}

# The parts of src/session that scripted tests cover: the rest is below the seam, where only real servers and its own
# unit tests reach it.
SCRIPTED_SESSION = {"session", "reconnect"}

Mutant = collections.namedtuple("Mutant", "file at end becomes change")

SWAPS = {"&&": "||", "||": "&&", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
         "+=": "-=", "-=": "+=", "++": "--", "--": "++", "true": "false", "false": "true", "break": "continue",
         "continue": "break"}
SPACED = {"&&", "||", "<", "<=", ">", ">=", "+", "-"}
NO_CALL = {"return", "co_return", "co_yield", "throw", "if", "for", "while", "do", "switch", "case", "default", "else", "using",
           "delete", "new", "goto", "break", "continue", "static_cast", "static_assert", "try", "catch", "assert", "const",
           "auto", "constexpr", "static", "log"}
CONDITIONAL = {"&&", "||", "==", "!=", "<", "<=", ">", ">="}
IN_CALLS = {"(", ")", "[", "]", ".", "->", "::"}


def number_plus_one(text):
    digits, suffix = re.fullmatch(r"(0[xX][\da-fA-F']+|[\d']+)([uUlLzZ]*)", text).groups()
    value = int(digits.replace("'", ""), 0 if digits[:2] in ("0x", "0X") else 10) + 1
    return (hex(value) if digits[:2] in ("0x", "0X") else str(value)) + suffix


def operators(source, i):
    """The mutants of one token: what may stand in its place, and what kind of mutant that is."""
    token = source.tokens[i]
    if token.kind == "number":
        if re.fullmatch(r"(0[xX][\da-fA-F']+|[1-9][\d']*|0)[uUlLzZ]*", token.text):
            yield number_plus_one(token.text), "constant"
    elif token.text == "!" and source.text_at(i + 1) != "=":
        yield "", "negation"
    elif token.text in SWAPS and token.kind != "string":
        if token.text in SPACED and not source.spaced(i):
            return
        if token.text in ("+", "-") and '""' in (source.text_at(i - 1), source.text_at(i + 1)):
            return
        yield SWAPS[token.text], "word" if token.kind == "word" else "operator"


def condition_mutants(source, i):
    """The mutants of an `if`: its condition becomes true, or false."""
    first = i + 1
    if source.text_at(first) != "(" or first not in source.partner:
        return
    last = source.partner[first]
    top = list(source.top_level(first + 1, last))
    semicolons = [j for j in top if source.texts[j] == ";"]
    begin = semicolons[-1] + 1 if semicolons else first + 1
    declares = any(source.texts[j] == "=" for j in top if j >= begin)
    at, end = source.tokens[begin].at, source.tokens[last].at
    for value in ("true", "false"):
        if source.text[at:end] != value:
            yield at, end, f"{source.text[at:end]}; {value}" if declares else value


def return_mutant(source, i):
    """The mutant of a `return`: the opposite of the condition that it returns."""
    end = next((j for j in source.top_level(i + 1, len(source.texts)) if source.texts[j] == ";"), None)
    if end is None or end == i + 1 or source.texts[i + 1] in ("true", "false", "{"):
        return None
    top = [j for j in source.top_level(i + 1, end) if j not in source.masked]
    texts = [source.texts[j] for j in top]
    conditional = any(source.texts[j] in CONDITIONAL and source.spaced(j) for j in top) or texts[:1] == ["!"]
    if not source.bodies[i][1] and (not conditional or "?" in texts):
        return None
    at, stop = source.tokens[i + 1].at, source.tokens[end].at
    return at, stop, f"!({source.text[at:stop]})"


def call_mutant(source, i):
    """The mutant of a statement that is a call and begins at this token: the call is left out."""
    if source.around[i] != "{" or source.text_at(i - 1) not in ("{", "}", ";", ")", "else"):
        return None
    if source.text_at(i - 1) == ")" and source.text_at(source.partner.get(i - 1, 0) - 1) not in ("if", "for", "while"):
        return None
    end = next((j for j in source.top_level(i, len(source.texts)) if source.texts[j] in (";", "}")), None)
    if end is None or source.texts[end] != ";" or source.texts[end - 1] != ")":
        return None
    first = i + 1 if source.texts[i] == "co_await" else i
    everything = list(source.top_level(first, end))
    if NO_CALL & {source.texts[j] for j in everything} or source.tokens[first].kind != "word":
        return None
    top = [j for j in everything if j not in source.masked]
    if any(source.tokens[j].kind != "word" and source.texts[j] not in IN_CALLS for j in top):
        return None
    # Two adjacent names are a declaration.
    if any(source.tokens[a].kind == source.tokens[b].kind == "word" and b == a + 1 for a, b in zip(top, top[1:])):
        return None
    return source.tokens[i].at, source.tokens[end].end, "{}"


def mutants_of(file, text):
    source = Source(text)
    found = []
    for i, token in enumerate(source.tokens):
        if source.bodies[i] is None:
            continue
        if i not in source.masked:
            for becomes, change in operators(source, i):
                found.append(Mutant(file, token.at, token.end, becomes, change))
            if token.text == "if":
                found += [Mutant(file, *each, "condition") for each in condition_mutants(source, i)]
            if token.text in ("return", "co_return") and (each := return_mutant(source, i)):
                found.append(Mutant(file, *each, "returned condition"))
        if token.kind == "word" and (each := call_mutant(source, i)):
            found.append(Mutant(file, *each, "call"))
    return found


def mutate(text, mutant):
    return text[:mutant.at] + mutant.becomes + text[mutant.end:]


def lines_changed(text, mutant):
    """The lines that the mutant takes out, the lines that it puts there, and the number of the first line, from 1."""
    starts = [0] + [match.end() for match in re.finditer("\n", text)]
    first = bisect.bisect_right(starts, mutant.at) - 1
    last = bisect.bisect_right(starts, max(mutant.end - 1, mutant.at)) - 1
    lines = text.split("\n")
    at = starts[first]
    stop = starts[last] + len(lines[last])
    return text[at:stop], text[at:mutant.at] + mutant.becomes + text[mutant.end:stop], first + 1


def diff(file, before, after):
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), f"a/{file}", f"b/{file}")
    return f"diff --git a/{file} b/{file}\n" + "".join(lines)


def summary(text, mutant):
    """The description of a mutant, in one line."""
    def one(part):
        short = " ".join(part.split())
        return short if len(short) <= 60 else short[:57] + "..."
    line = lines_changed(text, mutant)[2]
    old = one(text[mutant.at:mutant.end])
    change = f"`{old}` is left out" if mutant.becomes in ("", "{}") else f"`{old}` becomes `{one(mutant.becomes)}`"
    return f"{mutant.file}:{line}: {change}"


def suites_of(tree, file, servers):
    """The tests that can notice a mutant of this file, the cheapest first: each is a program, and its filter if any."""
    parts = pathlib.PurePath(file).parts
    family = parts[2] if parts[0] == "recipes" else parts[1]
    if family == "prometheus":
        return ["custodian_metrics"]
    if family == "discovery":
        return ["custodian_unit_discovery", "custodian_scripted_discovery"]
    folders = list(dict.fromkeys([family, *REACHED_BY.get(family, [])]))
    servers = integration_suites(tree, folders) if servers else []
    if family == "session" and pathlib.PurePath(file).stem not in SCRIPTED_SESSION:
        tested = (tree / f"tests/unit/session/{pathlib.PurePath(file).stem}_test.cpp").exists()
        return ["custodian_unit", *servers] if tested or servers else []
    return ["custodian_unit", *scripted_suites(tree, folders), *servers]


def scripted_suites(tree, folders):
    near = sorted(test.stem for folder in folders for test in (tree / "tests/scripted" / folder).glob("*_test.cpp")
                  if test.stem in scripted_tests(tree))
    # A sample kills most mutants that all combinations would kill, in a twelfth of the time. It omits cases that wait
    # for the clock (tag [timed]).
    tags = [f"[#{name}]~[timed]" for name in dict.fromkeys(near)]
    sample = "custodian_scripted/sample ~[timed]"
    if not tags:
        return [sample, "custodian_scripted"]
    # All combinations of the other families take an hour, and see what the sample sees.
    in_full = ",".join(f"[#{name}]" for name in dict.fromkeys(near))
    return ["custodian_scripted/sample " + ",".join(tags), sample, "custodian_scripted " + in_full]


def suites_in(tree, label):
    """The suites of a label: a dictionary from their names to their sources."""
    text = (tree / f"tests/{label}/CMakeLists.txt").read_text(encoding="utf-8")
    found = re.findall(rf"custodian_add_suite\((\w+) {label}\s+SOURCES\s+(.*?)\s+LIBRARIES", text, re.S)
    return {name: sources.split() for name, sources in found}


def scripted_tests(tree):
    return {pathlib.PurePath(source).stem for source in suites_in(tree, "scripted")["scripted"]}


def integration_suites(tree, folders):
    suites = suites_in(tree, "integration")
    by_folder = [name for folder in folders for name, sources in suites.items()
                 if any(source.startswith(folder + "/") and source.endswith("_test.cpp") for source in sources)]
    return [f"custodian_{name}" for name in dict.fromkeys(by_folder)]


def sources(tree):
    names = [path.relative_to(tree).as_posix() for folder in FOLDERS for pattern in ("*.cpp", "*.hpp")
             for path in (tree / folder).rglob(pattern)]
    return {name: (tree / name).read_text(encoding="utf-8") for name in sorted(names)}


def equivalents(tree):
    path = tree / EQUIVALENT
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def fits(entry, text, mutant):
    if entry["file"] != mutant.file:
        return False
    taken_out, put_there, number = lines_changed(text, mutant)
    if entry["line"] != taken_out or entry["becomes"] != put_there:
        return False
    return "after" not in entry or (number > 1 and text.split("\n")[number - 2] == entry["after"])


def all_mutants(texts):
    return [mutant for file, text in texts.items() for mutant in mutants_of(file, text)]


def split(texts, entries):
    """The mutants that may be drawn, and the entries that fit none."""
    fresh, used = [], set()
    for mutant in all_mutants(texts):
        fitting = [i for i, entry in enumerate(entries) if fits(entry, texts[mutant.file], mutant)]
        used.update(fitting)
        if not fitting:
            fresh.append(mutant)
    return fresh, [entry for i, entry in enumerate(entries) if i not in used]


def draw(mutants, seed):
    """All mutants in the order of the seed, which is the same for every version of Python."""
    def key(mutant):
        return hashlib.sha256(f"{seed}\0{mutant.file}\0{mutant.at}\0{mutant.end}\0{mutant.becomes}".encode()).digest()
    return sorted(mutants, key=key)


def patch(tree, texts, mutant, servers):
    text = texts[mutant.file]
    header = [f"Guard: {summary(text, mutant)}", f"Breaks: unknown; drawn, of kind {mutant.change}"]
    header += [f"Killed-by: {line}" for line in suites_of(tree, mutant.file, servers)]
    return "\n".join(header) + "\n\n" + diff(mutant.file, text, mutate(text, mutant))


def tell_stale(stale):
    for entry in stale:
        print(f"{EQUIVALENT}: no mutant of {entry['file']} is: {entry['line'].strip()} -> {entry['becomes'].strip()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("command", choices=["draw", "count", "stale"])
    parser.add_argument("--tree", type=pathlib.Path, default=TREE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--to", type=pathlib.Path)
    parser.add_argument("--without-servers", dest="servers", action="store_false")
    options = parser.parse_args()
    texts = sources(options.tree)
    fresh, stale = split(texts, equivalents(options.tree))
    tell_stale(stale)
    if options.command == "count":
        for change, number in collections.Counter(mutant.change for mutant in fresh).most_common():
            print(f"{number:6} {change}")
    if options.command == "draw":
        for number, mutant in enumerate(draw(fresh, options.seed)[:options.count], 1):
            (options.to / f"{number:05}.patch").write_text(patch(options.tree, texts, mutant, options.servers), encoding="utf-8")
    return 1 if stale and options.command == "stale" else 0


if __name__ == "__main__":
    sys.exit(main())
