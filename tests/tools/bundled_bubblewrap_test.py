#!/usr/bin/env python3
"""Tests of tools/bundled_bubblewrap, with a made-up source and without a network."""
import pathlib
import subprocess
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/bundled_bubblewrap"


class BundledBubblewrapTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.output = self.scratch / "output"

    def program(self, path, script):
        file = self.scratch / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/sh\n" + script)
        file.chmod(0o755)
        return file.parent

    def source(self):
        """Returns a source whose configure counts its runs and whose bwrap holds the flags of the linker."""
        directory = self.program("source/configure", f"""
            echo >> {self.scratch}/runs
            printf 'bwrap:\\n\\techo %s > bwrap\\n' "$* $LDFLAGS" > Makefile
            """)
        (directory / "COPYING").write_text("the licence")
        return directory

    def build(self, *arguments, path="/usr/bin:/bin"):
        words = [TOOL, self.output, *arguments]
        return subprocess.run(words, capture_output=True, text=True, env={"PATH": path}, timeout=60)

    def runs(self):
        return len((self.scratch / "runs").read_text().splitlines())

    def test_builds_a_static_program_without_selinux_and_puts_the_licence_beside_it(self):
        self.assertEqual(self.build(self.source()).returncode, 0)
        flags = (self.output / "bwrap").read_text()
        self.assertIn("--disable-selinux", flags)
        self.assertIn("-static", flags)
        self.assertEqual((self.output / "bwrap").stat().st_mode & 0o777, 0o755)
        self.assertEqual((self.output / "bwrap.COPYING").read_text(), "the licence")

    def test_builds_only_once(self):
        source = self.source()
        self.build(source)
        self.build(source)
        self.assertEqual(self.runs(), 1)
        (self.output / "bwrap").unlink()
        self.build(source)
        self.assertEqual(self.runs(), 2)

    def test_nothing_is_written_where_it_is_built_already(self):
        """A sandboxed build of the tree may only read the output."""
        source = self.source()
        self.build(source)
        (self.output / "lock").unlink()
        self.assertEqual(self.build(source).returncode, 0)
        self.assertFalse((self.output / "lock").exists())

    def test_another_source_is_built_again(self):
        self.build(self.source())
        other = self.scratch / "other"
        self.source().rename(other)
        self.build(other)
        self.assertEqual(self.runs(), 2)

    def test_a_build_that_fails_leaves_no_program_and_shows_why(self):
        directory = self.program("source/configure", "echo no libcap >&2; exit 1")
        run = self.build(directory)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no libcap", run.stderr)
        self.assertFalse((self.output / "bwrap").exists())

    def test_an_archive_that_cannot_be_reached_ends_the_build_with_the_reason(self):
        programs = self.program("programs/apt-get", "echo 'Could not resolve deb.debian.org' >&2; exit 100")
        run = self.build(path=f"{programs}:/usr/bin:/bin")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("Could not resolve deb.debian.org", run.stderr)
        self.assertIn("could not fetch the source of bubblewrap", run.stderr)
        self.assertFalse((self.output / "bwrap").exists())


if __name__ == "__main__":
    unittest.main()
