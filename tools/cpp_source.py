"""A C++ source as tools/mutate.py sees it: its tokens, its pairs of brackets, and the places of code that runs."""

import collections
import re

TOKEN = re.compile(r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<directive>\#(?:\\\n|[^\n])*)
  | (?P<string>(?:u8|[uUL])?R"(?P<fence>[^(\s]*)\(.*?\)(?P=fence)"|(?:u8|[uUL])?"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>\d(?:'?[\w.])*)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<symbol><=>|<<=|>>=|->|\.\.\.|::|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
  """, re.X | re.S)
Token = collections.namedtuple("Token", "kind text at end")
OPEN = {"(": ")", "[": "]", "{": "}"}
CLOSE = set(OPEN.values())
TYPES = {"class", "struct", "union", "enum"}
SPANS = {"hours", "minutes", "seconds", "milliseconds", "microseconds", "nanoseconds"}


class Source:
    """The tokens of a file, its pairs of brackets, and the places of code that runs."""

    def __init__(self, text):
        self.text = text
        self.tokens = [Token(each.lastgroup if each.lastgroup != "fence" else "string", each.group(), each.start(), each.end())
                       for each in TOKEN.finditer(text)]
        self.tokens = [token for token in self.tokens if token.kind not in ("blank", "directive")]
        self.texts = [token.text if token.kind != "string" else '""' for token in self.tokens]
        self.partner = self.pair()
        self.masked = self.mask()
        # For each token the body that it is in, or None: its `{`, and whether that returns a condition.
        self.bodies = self.find_bodies()

    def pair(self):
        partner, stack = {}, []
        self.around = [""] * len(self.texts)  # the bracket that each token is in
        for i, text in enumerate(self.texts):
            self.around[i] = self.texts[stack[-1]] if stack else ""
            if text in OPEN:
                stack.append(i)
            elif text in CLOSE and stack:
                partner[i] = stack.pop()
                partner[partner[i]] = i
        return partner

    def spaced(self, i):
        token = self.tokens[i]
        return self.text[token.at - 1].isspace() and self.text[token.end:token.end + 1].isspace()

    def text_at(self, i):
        return self.texts[i] if 0 <= i < len(self.texts) else ""

    def angle_end(self, i):
        """The end of the template arguments that begin at this `<`; None if it is an operator."""
        before = self.text_at(i - 1)
        if before != "template" and (self.text[self.tokens[i].at - 1].isspace() or not re.match(r"\w", before)):
            return None
        depth = 0
        while i < len(self.texts):
            text = self.texts[i]
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return i
            if text == ";":
                return None
            i = self.partner[i] + 1 if text in OPEN else i + 1
        return None

    def mask(self):
        masked = set()
        for i, text in enumerate(self.texts):
            end = None
            if text == "<":
                end = self.angle_end(i)
            elif text == "[" and self.text_at(i + 1) == "[" and self.tokens[i + 1].at == self.tokens[i].end:
                end = self.partner.get(i)
            elif text in ("static_assert", "log") and self.text_at(i + 1) == "(":
                end = self.partner.get(i + 1)
            elif text in ("using", "typedef", "requires", "case"):
                end = next((j for j in range(i, len(self.texts)) if self.texts[j] in ";{:"), None)
            elif text in SPANS and self.text_at(i + 1) in ("{", "("):
                end = self.partner.get(i + 1)
            if end is not None:
                masked.update(range(i, end + 1))
        return masked

    def find_bodies(self):
        bodies = [None] * len(self.texts)
        self.declarations(0, len(self.texts), bodies)
        return bodies

    def declarations(self, i, end, bodies):
        start = i
        while i < end:
            text = self.texts[i]
            if text == ";" or text == "}":
                start = i + 1
            elif text == ":" and self.text_at(i - 1) in ("public", "private", "protected"):
                start = i + 1
            elif text in ("(", "["):
                i = self.partner.get(i, i)
            elif text == "{":
                close = self.partner.get(i, end)
                kind = self.brace_kind(start, i)
                if kind == "scope":
                    self.declarations(i + 1, close, bodies)
                elif kind == "body":
                    self.body(i, close, self.function_returns_bool(start, i), bodies)
                i = close
                if kind != "initialiser":
                    start = i + 1
            i += 1

    def top_level(self, start, end):
        """The indices from start to end that are in no brackets and no template arguments."""
        i = start
        while i < end:
            yield i
            if self.texts[i] in OPEN and i in self.partner:
                i = self.partner[i]
                if i < end:
                    yield i
            i += 1

    def brace_kind(self, start, brace):
        """The kind of a `{` outside of bodies: scope, initialiser or body. Its declaration begins at start."""
        header = [i for i in self.top_level(start, brace) if i not in self.masked]
        words = [self.texts[i] for i in header]
        if "namespace" in words or ("extern" in words and "(" not in words):
            return "scope"
        if "(" not in words:
            if "enum" in words or not TYPES & set(words):
                return "initialiser"
            return "scope"
        parameters = words.index("(")
        if "=" in words[:parameters] and "operator" not in words:
            return "initialiser"
        before = self.tokens[brace - 1]
        members = ":" in words[parameters:]
        if members and (before.kind == "word" or before.text == ">"):
            return "initialiser"
        return "body"

    def function_returns_bool(self, start, brace):
        words = []
        for i in range(start, brace):
            if self.texts[i] == "(":
                break
            words.append(self.texts[i])
        text = " ".join(words)
        return bool(re.search(r"(^|[^<:,] )bool( |$)|awaitable < bool >", text)) and "function <" not in text

    def lambda_returns_bool(self, brace):
        """Whether the lambda whose body begins at this brace says that it returns a bool; None if there is no lambda."""
        i, says = brace - 1, False
        j = i
        while j > 0 and (self.tokens[j].kind == "word" or self.texts[j] in ("::", "<", ">", "&", "*", ",")):
            j -= 1
        if self.text_at(j) == "->":
            says = self.texts[j + 1:brace] == ["bool"]
            i = j - 1
        while self.text_at(i) in ("mutable", "noexcept", "constexpr"):
            i -= 1
        if self.text_at(i) == ")":
            i = self.partner.get(i, 0) - 1
        return says if self.text_at(i) == "]" else None

    def body(self, brace, close, returns_bool, bodies):
        i = brace + 1
        while i < close:
            bodies[i] = (brace, returns_bool)
            if self.texts[i] == "{" and i in self.partner:
                inner = self.lambda_returns_bool(i)
                if inner is not None:
                    self.body(i, self.partner[i], inner, bodies)
                    i = self.partner[i]
                    bodies[i] = (brace, returns_bool)
            i += 1
