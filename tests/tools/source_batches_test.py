#!/usr/bin/env python3
"""Tests of tools/source_batches.py, on small trees with the real compiler."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "tools" / "source_batches.py"


class SourceBatchesTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.sources = []

    def source(self, name, hidden="", text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#pragma once\nnamespace a {{ struct Item {{ int length; }}; struct Other {{}}; }}\nnamespace b {{ struct Item {{}}; }}\n"
                        if name.endswith(".h") else
                        f'#include "{self.root}/items.h"\nnamespace room {{\nnamespace {{\n\n{hidden}\n\n}}  // namespace\n{text}\n}}\n')
        if name.endswith(".cc"):
            self.sources.append(path)

    def batches(self, size=8):
        """Returns the batches of more than one source, as sorted lists of paths in the tree."""
        listed = "".join(f"{path}\n" for path in self.sources)
        run = subprocess.run([sys.executable, "-B", SCRIPT, str(size)], input=listed, capture_output=True, text=True, check=True)
        found = {}
        for path, folder, group in re.findall(rf'SOURCE "{self.root}/((\w+)/\w+\.cc)" PROPERTY UNITY_GROUP (\w+)', run.stdout):
            found.setdefault((folder, group), []).append(path)
        return sorted(sorted(batch) for batch in found.values())

    def compiles_together(self):
        self.source("items.h")
        both = "".join(f'#include "{path}"\n' for path in self.sources)
        run = subprocess.run(["clang++-19", "-std=c++23", "-fsyntax-only", "-x", "c++", "-"], input=both, capture_output=True, text=True)
        return run.returncode == 0

    def assert_together(self):
        self.assertTrue(self.compiles_together())
        self.assertEqual(self.batches(), [["x/one.cc", "x/two.cc"]])

    def assert_apart(self):
        self.assertFalse(self.compiles_together())
        self.assertEqual(self.batches(), [])

    def test_sources_that_hide_different_names_are_together(self):
        self.source("x/one.cc", "constexpr int kOne = 1;")
        self.source("x/two.cc", "constexpr int kTwo = 2;")
        self.assert_together()

    def test_sources_that_hide_the_same_constant_are_apart(self):
        self.source("x/one.cc", "constexpr int kLimit = 1;")
        self.source("x/two.cc", "constexpr int kLimit = 2;")
        self.assert_apart()

    def test_sources_that_hide_the_same_function_are_apart(self):
        self.source("x/one.cc", "int Count(int x) {\n  return x;\n}")
        self.source("x/two.cc", "int Count(int x) {\n  return -x;\n}")
        self.assert_apart()

    def test_sources_that_hide_the_same_derived_class_are_apart(self):
        self.source("x/one.cc", "class CountTest : public a::Item {};")
        self.source("x/two.cc", "class CountTest : public a::Other {};")
        self.assert_apart()

    def test_sources_that_derive_from_the_same_class_are_together(self):
        self.source("x/one.cc", "class OneTest : public a::Item {\n};")
        self.source("x/two.cc", "class TwoTest : public a::Item {\n};")
        self.assert_together()

    def test_a_source_is_apart_from_one_that_hides_a_name_which_it_declares(self):
        self.source("x/one.cc", "struct Thing {};")
        self.source("x/two.cc", text="struct Thing { int size; };\nThing made;")
        self.assert_apart()

    def test_sources_with_the_same_alias_are_together(self):
        self.source("x/one.cc", "using a::Item, a::Other;\nItem first;")
        self.source("x/two.cc", "using ::a::Item;\nItem second;")
        self.assert_together()

    def test_sources_with_different_aliases_of_one_name_are_apart(self):
        self.source("x/one.cc", "using a::Item;")
        self.source("x/two.cc", "using b::Item;")
        self.assert_apart()

    def test_a_source_is_apart_from_one_with_an_alias_of_a_name_that_it_finds_elsewhere(self):
        self.source("x/one.cc", "using Item = a::Item;")
        self.source("x/two.cc", text="struct Item {};\nItem made;")
        self.assert_apart()

    def test_a_member_or_a_qualified_name_of_the_other_source_does_not_matter(self):
        self.source("x/one.cc", "struct Item {};\nint length;")
        self.source("x/two.cc", "int Measure(a::Item item) {\n  return item.length;\n}")
        self.assert_together()

    def test_a_source_that_defines_a_macro_is_in_no_batch(self):
        self.source("x/one.cc", "#define SUPPRESSED")
        self.source("x/two.cc", "struct Thing {};")
        self.assertEqual(self.batches(), [])

    def test_sources_of_different_folders_are_apart(self):
        self.source("x/one.cc")
        self.source("y/two.cc")
        self.assertEqual(self.batches(), [])

    def test_each_source_is_in_at_most_one_batch_and_a_batch_is_not_much_larger_than_wanted(self):
        for number in range(50):
            self.source(f"x/source_{number}.cc")
        batches = self.batches()
        listed = sorted(path for batch in batches for path in batch)
        self.assertEqual(listed, sorted(set(listed)))
        self.assertGreater(len(listed), 45)
        self.assertLessEqual(max(map(len, batches)), 12)

    def test_a_further_source_leaves_the_others_where_they_are(self):
        for number in range(20):
            self.source(f"x/source_{number}.cc")
        before = self.batches()
        self.source("x/new.cc")
        after = [[path for path in batch if path != "x/new.cc"] for batch in self.batches()]
        self.assertEqual(before, after)


if __name__ == "__main__":
    unittest.main()
