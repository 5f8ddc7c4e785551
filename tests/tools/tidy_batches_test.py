#!/usr/bin/env python3
"""Tests of tools/tidy_batches.py and of the runs of tools/check_tidy, on small trees with the real tools of clang."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

TOOLS = pathlib.Path(__file__).resolve().parent.parent.parent / "tools"
sys.dont_write_bytecode = True
sys.path.insert(0, str(TOOLS))
import tidy_batches  # noqa: E402


def load_check_tidy():
    loader = importlib.machinery.SourceFileLoader("check_tidy", str(TOOLS / "check_tidy"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_tidy", loader))
    loader.exec_module(module)
    return module


class TreeTest(unittest.TestCase):
    """A tree in which <vec> and <text> are precompiled for all rooms, <net> for src/loop only, and <rare> for none."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name).resolve()
        self.build = self.root / "build"
        self.entries = []
        for name in ("vec", "text", "net", "rare"):
            self.write(f"library/{name}", f"#pragma once\nstruct {name}_type {{}};\n")
        self.precompiled = [self.source("build/pch/pch_std.cc", "#include <vec>\n#include <text>\n"),
                            self.source("build/pch/pch_net.cc", "#include <vec>\n#include <text>\n#include <net>\n")]
        self.write("build/pch/pch_net.rooms", f"{self.root}/src/loop\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def source(self, name, text, flags=""):
        path = self.write(name, text)
        command = f"clang++-19 -isystem {self.root}/library -I{self.root}/src {flags} -o {name}.o -c {path}"
        self.entries.append({"directory": str(self.root), "file": path, "command": command})
        return path

    def plan(self):
        """Returns the batches of all sources but those of the precompiled headers."""
        (self.build / "compile_commands.json").write_text(json.dumps(self.entries))
        wanted = [entry for entry in self.entries if entry["file"] not in self.precompiled]
        return tidy_batches.plan(wanted, self.build)

    def names(self):
        """Returns the batches as sorted lists of paths in the tree."""
        return sorted([str(pathlib.Path(source.path).relative_to(self.root)) for source in batch] for batch in self.plan())

    def in_room(self, name, body):
        return self.source(name, f"namespace holdfast::room {{\n{body}\n}}  // namespace holdfast::room\n")

    def hiding(self, name, declaration, rest=""):
        return self.in_room(name, f"namespace {{\n{declaration}\n}}  // namespace\n{rest}")

    def assert_apart(self):
        self.assertEqual(self.names(), [["src/a.cc"], ["src/b.cc"]])

    def assert_together(self):
        self.assertEqual(self.names(), [["src/b.cc", "src/a.cc"]])


class PlanTest(TreeTest):
    def test_each_source_is_in_exactly_one_batch(self):
        for number in range(2 * tidy_batches.LARGEST + 1):
            self.source(f"src/many_{number}.cc", f"int Many{number}();\n")
        self.source("src/lost.cc", "#include <missing>\n")
        self.source("src/strict.cc", "int Strict();\n", "-Werror")
        self.source("apps/one/main.cc", "int main() {}\n")
        batches = self.plan()
        planned = sorted(source.path for batch in batches for source in batch)
        self.assertEqual(planned, sorted(entry["file"] for entry in self.entries if entry["file"] not in self.precompiled))
        self.assertEqual([len(batch) for batch in batches], [16, 16, 1, 1, 1, 1])

    def test_sources_that_hide_different_names_are_together(self):
        self.hiding("src/a.cc", "int CountA(int x) {\n  return x;\n}")
        self.hiding("src/b.cc", "int CountB(int x) {\n  return x;\n}")
        self.assert_together()

    def test_sources_that_hide_the_same_function_are_apart(self):
        self.hiding("src/a.cc", "int Count(int x) {\n  return x;\n}")
        self.hiding("src/b.cc", "int Count(int x) {\n  return -x;\n}")
        self.assert_apart()

    def test_sources_that_hide_the_same_constant_are_apart(self):
        self.hiding("src/a.cc", "constexpr int kLimit = 1;")
        self.hiding("src/b.cc", "constexpr int kLimit = 2;")
        self.assert_apart()

    def test_sources_that_hide_classes_of_the_same_name_with_different_bases_are_apart(self):
        self.hiding("src/a.cc", "struct Reader : FileReader {};")
        self.hiding("src/b.cc", "struct Reader : PipeReader {};")
        self.assert_apart()

    def test_a_source_is_apart_from_one_that_hides_a_name_which_its_header_uses(self):
        self.write("src/b.h", "struct B { int Limit; };\n")
        self.hiding("src/a.cc", "struct Limit {};")
        self.source("src/b.cc", '#include "b.h"\nnamespace holdfast::room {\nint OfB();\n}  // namespace holdfast::room\n')
        self.assert_apart()

    def test_a_hidden_name_does_not_matter_in_another_namespace(self):
        self.hiding("src/a.cc", "constexpr int kLimit = 1;")
        self.source("src/b.cc", "namespace holdfast::other {\nconstexpr int kLimit = 2;\n}  // namespace holdfast::other\n")
        self.assert_together()

    def test_a_source_is_apart_from_one_whose_using_declaration_names_a_word_of_it(self):
        self.source("src/a.cc", "namespace outer {\nstruct Item;\n}\nusing outer::Item;\n")
        self.source("src/b.cc", "namespace other {\nstruct Item;\n}\n")
        self.assert_apart()

    def test_a_source_is_apart_from_one_whose_macro_names_a_word_of_it(self):
        self.source("src/a.cc", "#define Total 7\n")
        self.source("src/b.cc", "int Total();\n")
        self.assert_apart()

    def test_either_of_two_sources_may_declare_the_name_that_keeps_them_apart(self):
        self.hiding("src/b.cc", "constexpr int kLimit = 1;")
        self.in_room("src/a.cc", "extern const int kLimit;")
        self.assert_apart()

    def test_a_source_without_a_precompiled_header_precedes_the_sources_that_include_it(self):
        self.source("src/a.cc", "int A();\n")
        self.source("src/b.cc", "#include <vec>\n")
        self.source("src/c.cc", "#include <vec>\n#include <text>\n")
        self.assertEqual(self.names(), [["src/a.cc", "src/b.cc", "src/c.cc"]])

    def test_sources_that_each_lack_a_precompiled_header_of_the_other_are_apart(self):
        self.source("src/a.cc", "#include <text>\n")
        self.source("src/b.cc", "#include <vec>\n")
        self.assert_apart()

    def test_a_precompiled_header_counts_when_a_header_of_ours_includes_it(self):
        self.write("src/ours.h", "#include <vec>\n")
        self.source("src/a.cc", "#include <text>\n")
        self.source("src/b.cc", '#include "ours.h"\n')
        self.assert_apart()

    def test_a_header_that_is_not_precompiled_keeps_no_sources_apart(self):
        self.source("src/a.cc", "#include <rare>\n")
        self.source("src/b.cc", "#include <net>\n")
        self.assert_together()

    def test_the_build_tells_which_rooms_have_the_headers_of_the_network_precompiled(self):
        for room in ("loop", "loop/inner"):
            self.source(f"src/{room}/a.cc", "int A();\n", f"-D{room[-1]}")
            self.source(f"src/{room}/b.cc", "#include <net>\n", f"-D{room[-1]}")
        self.assertEqual(self.names(), [["src/loop/a.cc", "src/loop/b.cc"], ["src/loop/inner/b.cc", "src/loop/inner/a.cc"]])


class JoinedTest(TreeTest):
    def test_an_include_of_an_earlier_source_is_left_out_once(self):
        self.source("src/a.cc", "#include <vec>\n#include <vec>\nint A();\n")
        self.source("src/b.cc", "#include <vec>\nint B();\n")
        [batch] = self.plan()
        self.assertEqual([pathlib.Path(source.path).name for source in batch], ["b.cc", "a.cc"])
        self.assertEqual(tidy_batches.joined(batch), "#include <vec>\nint B();\n\n\n#include <vec>\nint A();\n")


class CheckTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.check_tidy = load_check_tidy()
        self.check_tidy.ROOT, self.check_tidy.BUILD = self.root, self.build
        self.write(".clang-tidy", "Checks: '-*,modernize-use-nullptr'\nWarningsAsErrors: '*'\n")

    def check(self, planted):
        """Checks a batch of eight sources, of which `planted` have a defect. Returns the findings, the sources that have passed and
        the number of runs of clang-tidy."""
        for name in "abcdefgh":
            value = "0" if name in planted else "nullptr"
            self.source(f"src/{name}.cc", f"int* Pointer{name.upper()}() {{ return {value}; }}\n")
        [batch] = self.plan()
        stamps = {source.path: self.build / pathlib.Path(source.path).stem for source in batch}
        with mock.patch.object(subprocess, "run", wraps=subprocess.run) as run:
            found = self.check_tidy.check(batch, stamps)
        return found, "".join(sorted(stamp.name for stamp in stamps.values() if stamp.exists())), run.call_count

    def test_a_batch_without_a_finding_is_one_run(self):
        self.assertEqual(self.check(""), ("", "abcdefgh", 1))

    def test_a_batch_with_a_finding_is_halved_down_to_the_file(self):
        found, passed, runs = self.check("b")
        self.assertIn("src/b.cc:1:26: error: use nullptr", found)
        self.assertNotIn(str(self.root), found)
        self.assertEqual((found.count("error:"), passed, runs), (1, "acdefgh", 7))

    def test_each_file_with_a_finding_is_reported(self):
        found, passed, runs = self.check("ah")
        self.assertRegex(found, r"(?s)src/h\.cc:1:26: error: .*src/a\.cc:1:26: error: ")
        self.assertEqual((found.count("error:"), passed, runs), (2, "bcdefg", 11))

    def test_a_clang_tidy_that_fails_silently_is_a_finding(self):
        self.check_tidy.TIDY = "false"
        found, passed, _ = self.check("")
        self.assertEqual(found.splitlines(), [f"src/{name}.cc: false ended with 1 and said nothing" for name in "hgfedcba"])
        self.assertEqual(passed, "")


class StampTest(unittest.TestCase):
    def setUp(self):
        self.check_tidy = load_check_tidy()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = pathlib.Path(directory.name).resolve()
        self.check_tidy.PASSED = self.top / "passed"
        self.check_tidy.PASSED.mkdir()

    def stamp(self, tree, header="int Far();\n", flags="-O1", shared=b"clang-tidy 19"):
        """Returns the stamp of a source that includes `header` by way of another one."""
        self.check_tidy.ROOT = self.top / tree
        for name, text in (("a.cc", '#include "room/near.h"\n'), ("near.h", '#include "room/far.h"\n'), ("far.h", header)):
            path = self.check_tidy.ROOT / "src/room" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        source = f"{self.check_tidy.ROOT}/src/room/a.cc"
        return self.check_tidy.stamp({"file": source, "command": f"clang++-19 {flags} -c {source}"}, shared)

    def test_the_same_source_has_the_same_stamp_in_each_tree(self):
        self.assertEqual(self.stamp("one"), self.stamp("two"))

    def test_what_a_finding_depends_on_is_another_stamp(self):
        stamps = [self.stamp("one"), self.stamp("one", header="int* Far();\n"), self.stamp("one", flags="-O0"),
                  self.stamp("one", shared=b"clang-tidy 20")]
        self.assertEqual(len(set(stamps)), 4)

    def test_only_stamps_that_were_not_used_for_long_are_dropped(self):
        old, fresh = (self.check_tidy.PASSED / name for name in ("old", "fresh"))
        for path, days in ((old, self.check_tidy.KEPT_DAYS + 1), (fresh, self.check_tidy.KEPT_DAYS - 1)):
            path.touch()
            os.utime(path, (time.time() - days * 24 * 3600,) * 2)
        self.check_tidy.drop_old_stamps()
        self.assertEqual(list(self.check_tidy.PASSED.iterdir()), [fresh])


if __name__ == "__main__":
    unittest.main()
