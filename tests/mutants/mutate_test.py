#!/usr/bin/env python3
"""Tests of tools/mutate.py: what it changes in a text, what it leaves alone, and that a seed decides all."""

import pathlib
import sys
import unittest

TREE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TREE / "tools"))
sys.dont_write_bytecode = True

import mutate  # noqa: E402


def changed(text):
    """The texts that the mutants make of a text."""
    return {mutate.mutate(text, mutant) for mutant in mutate.mutants_of("a.cpp", text)}


def body(code, returns="void"):
    return f"{returns} f(int a, int b) {{\n  {code}\n}}\n"


class Mutants(unittest.TestCase):
    def becomes(self, code, *others, returns="void"):
        self.assertEqual(changed(body(code, returns)), {body(other, returns) for other in others})

    def includes(self, code, *others, returns="void"):
        self.assertLessEqual({body(other, returns) for other in others}, changed(body(code, returns)))

    def unchanged(self, text):
        self.assertEqual(changed(text), set())

    def test_each_operator_has_its_opposite(self):
        for one, other in [("&&", "||"), ("<", "<="), (">", ">="), ("==", "!="), ("+", "-"), ("+=", "-=")]:
            self.becomes(f"x = a {one} b;", f"x = a {other} b;")
            self.becomes(f"x = a {other} b;", f"x = a {one} b;")
        self.becomes("++a;", "--a;")
        self.becomes("x = !a;", "x = a;")

    def test_constants_and_words_change(self):
        self.becomes("x = 0;", "x = 1;")
        self.becomes("x = 36U;", "x = 37U;")
        self.becomes("x = 0x1F;", "x = 0x20;")
        self.becomes("x = true;", "x = false;")
        self.includes("for (;;) { break; }", "for (;;) { continue; }")

    def test_a_condition_is_true_or_false(self):
        self.includes("if (a.ok()) g();", "if (true) g();", "if (false) g();", "if (a.ok()) {}")
        self.includes("if (auto* p = q()) r(p);", "if (auto* p = q(); true) r(p);")
        self.includes("if (auto p = q(); p.ok()) r(p);", "if (auto p = q(); false) r(p);")

    def test_a_returned_condition_is_negated(self):
        self.includes("return g(a);", "return !(g(a));", returns="bool")
        self.includes("co_return g(a);", "co_return !(g(a));", returns="awaitable<bool>")
        self.includes("return a == b;", "return !(a == b);", returns="auto")
        self.becomes("return g(a);", returns="int")

    def test_a_call_is_left_out_and_a_declaration_is_not(self):
        self.becomes("a.g(h())->i();", "{}")
        self.becomes("co_await g<&h>(a);", "{}")
        self.becomes("Lock lock{mutex};")
        self.becomes("std::lock_guard lock(mutex);")
        self.becomes("x = g();")

    def test_nothing_outside_of_bodies_changes(self):
        self.unchanged("constexpr int limit = 20;\nbool f(int a = 0, bool b = true);\n")
        self.unchanged("struct A {\n  int b = 0;\n  bool c{true};\n  A() : b{1}, c(false) {}\n};\n")
        self.unchanged("enum class E { a = 1, b = 2 };\n")
        self.unchanged("template <int n = 3>\nstruct B {\n  static_assert(n > 0);\n};\n")

    def test_text_directives_templates_and_types_stay(self):
        self.becomes('// a && b\n  /* 1 + 2 */ x = "a == b" R"(0 && 1)";')
        self.becomes("[[maybe_unused]] int x{};")
        self.becomes("auto&& x = std::get<1>(y);")
        self.becomes("static_assert(sizeof(a) == 4);")
        self.unchanged("#if A && 1\n#endif\n")

    def test_what_is_logged_stays_and_so_do_spans_of_time(self):
        self.becomes("client.log(level, a + 1);")
        self.becomes("wait = std::chrono::milliseconds{20};")
        self.becomes("wait = 20ms;")

    def test_what_a_lambda_does_changes(self):
        self.includes("g([a] { h(); });", "g([a] { {} });", "{}")
        self.includes("g([a](int b) -> bool { return h(b); });", "g([a](int b) -> bool { return !(h(b)); });")


class Draws(unittest.TestCase):
    texts = {"src/a.cpp": body("if (a == b) g();\n  if (a == b) g();")}

    def test_a_seed_says_which_and_in_which_order(self):
        mutants = mutate.all_mutants(self.texts)
        self.assertEqual(mutate.draw(mutants, 1), mutate.draw(list(reversed(mutants)), 1))
        self.assertNotEqual(mutate.draw(mutants, 1), mutate.draw(mutants, 2))

    def test_what_changes_nothing_is_not_drawn(self):
        entry = {"file": "src/a.cpp", "line": "  if (a == b) g();", "becomes": "  if (a != b) g();", "reason": "a test"}
        everywhere, stale = mutate.split(self.texts, [entry])
        self.assertEqual((len(mutate.all_mutants(self.texts)) - len(everywhere), stale), (2, []))
        once, stale = mutate.split(self.texts, [entry | {"after": "  if (a == b) g();"}])
        self.assertEqual((len(mutate.all_mutants(self.texts)) - len(once), stale), (1, []))

    def test_an_entry_that_fits_nothing_is_stale(self):
        entry = {"file": "src/a.cpp", "line": "  if (a > b) g();", "becomes": "  if (a < b) g();", "reason": "a test"}
        self.assertEqual(mutate.split(self.texts, [entry])[1], [entry])


class Here(unittest.TestCase):
    def test_each_entry_of_this_tree_fits_a_line(self):
        self.assertEqual(mutate.split(mutate.sources(TREE), mutate.equivalents(TREE))[1], [])

    def test_each_source_has_suites_that_can_notice(self):
        for file in mutate.sources(TREE):
            self.assertTrue(mutate.suites_of(TREE, file, servers=True), file)

    def test_the_cheapest_suite_comes_first(self):
        lines = mutate.suites_of(TREE, "recipes/src/leader/candidacy.cpp", servers=True)
        self.assertEqual(lines[0], "custodian_unit")
        self.assertIn("[#leadership_faults_test]", lines[1])
        self.assertEqual((lines[2], lines[4:]), ("custodian_scripted/sample ~[timed]", ["custodian_leader"]))

    def test_in_full_is_only_the_family(self):
        lines = mutate.suites_of(TREE, "recipes/src/leader/candidacy.cpp", servers=False)
        self.assertTrue(lines[3].startswith("custodian_scripted ["))
        self.assertIn("[#leadership_faults_test]", lines[3])
        self.assertNotIn("mutex", lines[3])

    def test_below_the_seam_are_servers_and_unit_tests(self):
        self.assertIn("custodian_client", mutate.suites_of(TREE, "src/session/c_client.cpp", servers=True))
        self.assertEqual(mutate.suites_of(TREE, "src/session/c_codec.cpp", servers=False), [])
        self.assertEqual(mutate.suites_of(TREE, "src/session/inbox.cpp", servers=False), ["custodian_unit"])


if __name__ == "__main__":
    unittest.main()
