#!/usr/bin/env python3
"""Tests of tools/check_docs on a small made-up tree."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/check_docs"

TREE = {
    "README.md": "| `fs/remove` | removes |\n",
    "docs/ARCHITECTURE.md": "[base](../src/base/README.md), [fs](../src/fs/disk/README.md)\n",
    "docs/PROTOCOL.md": "### `fs/remove`\n",
    "src/base/README.md": "# src/base\n\nBasics.\n",
    "src/fs/disk/README.md": "# src/fs/disk\n\nFiles.\n",
    "apps/tool/README.md": "# apps/tool\n\nA tool.\n",
    "src/wire/methods.h": 'struct FsRemove : Method<"fs/remove"> {};\n',
    "tests/traces/fs_remove.trace": "",
    "tools/layers.txt": "base ->\nfs/disk -> base\napps/tool -> fs/disk\ntests/support -> base\n",
}


class CheckDocsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for name, text in TREE.items():
            self.write(name, text)
        shutil.copy(TOOL, self.root / "tools")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def complaints(self):
        run = subprocess.run([self.root / "tools/check_docs"], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0 if run.stderr == "check_docs: ok\n" else 1)
        return run.stderr

    def test_passes_a_tree_that_is_in_order(self):
        self.assertEqual(self.complaints(), "check_docs: ok\n")

    def test_reports_a_room_without_a_readme(self):
        (self.root / "src/fs/disk/README.md").unlink()
        self.assertIn("src/fs/disk/README.md:1: the file does not exist\n", self.complaints())

    def test_reports_a_readme_that_is_too_long(self):
        self.write("src/base/README.md", "# src/base\n" + "line\n" * 9)
        self.assertEqual(self.complaints(), "check_docs: ok\n")
        self.write("src/base/README.md", "# src/base\n" + "line\n" * 10)
        self.assertEqual(self.complaints(), "src/base/README.md:11: the file has 11 lines; at most 10 are allowed\n")

    def test_reports_a_readme_that_names_another_room(self):
        self.write("apps/tool/README.md", "# apps/other\n")
        self.assertEqual(self.complaints(), "apps/tool/README.md:1: the first line has to be `# apps/tool`\n")

    def test_reports_a_readme_in_a_folder_that_is_not_a_room(self):
        self.write("src/fs/README.md", "# src/fs\n")
        self.assertEqual(self.complaints(), "src/fs/README.md:1: src/fs is not a room of tools/layers.txt\n")

    def test_reports_a_folder_that_is_not_in_the_code_map(self):
        self.write("docs/ARCHITECTURE.md", "[base](../src/base/README.md)\n")
        self.assertEqual(self.complaints(), "docs/ARCHITECTURE.md:1: the code map needs a link to a README.md of src/fs\n")

    def test_reports_an_architecture_that_is_too_long(self):
        self.write("docs/ARCHITECTURE.md", TREE["docs/ARCHITECTURE.md"] + "line\n" * 200)
        self.assertEqual(self.complaints(), "docs/ARCHITECTURE.md:201: the file has 201 lines; at most 200 are allowed\n")

    def test_reports_a_method_without_documents(self):
        self.write("src/wire/methods.h", 'Method<"fs/remove"> Method<"fs/copy">\n')
        complaints = self.complaints()
        for part in ("docs/PROTOCOL.md needs a heading ### `fs/copy`", "has to name `fs/copy`", "needs a fs_copy.trace"):
            self.assertIn(part, complaints)

    def test_reports_a_link_that_leads_nowhere(self):
        self.write("docs/OTHER.md", "[gone](GONE.md)\n")
        self.assertEqual(self.complaints(), "docs/OTHER.md:1: links to GONE.md, which does not exist\n")


unittest.main()
