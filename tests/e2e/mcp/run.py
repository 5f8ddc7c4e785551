#!/usr/bin/env python3
"""Runs the official TypeScript SDK of MCP against `holdfast mcp-server`. README.md in the folder above says what that proves."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import npm_cache  # noqa: E402

PACKAGE = "@modelcontextprotocol/sdk"
DEFAULT = ("1.20.0", "1.32.2")
SCENARIO_SECONDS = 300
SKIPPED = 77  # the exit code by which ctest knows a skipped test


def absolute(path):
    return pathlib.Path(path).resolve()


def run(server, folder):
    # The modules of the SDK are found from the place of the script, so a copy of it lies beside them.
    script = absolute(__file__).parent / "client.mjs"
    with tempfile.TemporaryDirectory(prefix="holdfast-mcp-", dir="/var/tmp") as work:
        (pathlib.Path(work) / "node_modules").symlink_to(folder / "node_modules")
        copy = pathlib.Path(work) / script.name
        shutil.copy(script, copy)
        return subprocess.run(["node", str(copy), str(server), work], stdin=subprocess.DEVNULL, timeout=SCENARIO_SECONDS).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=absolute, default=npm_cache.ROOT / "build/release/bin/holdfast")
    parser.add_argument("--versions", type=lambda text: text.replace(",", " ").split() or DEFAULT, default=DEFAULT)
    parser.add_argument("--cache", type=absolute, default=npm_cache.PLACE, help="where fetched clients are kept")
    parser.add_argument("--cached", action="store_true", help=f"fetch nothing; exit with {SKIPPED} if a client is missing")
    options = parser.parse_args()
    failed = 0
    for version in options.versions:
        try:
            if not shutil.which("node"):
                raise npm_cache.Missing("node is needed")
            packages = [f"{PACKAGE}@{version}"]
            folder = npm_cache.folder(f"mcp-sdk-{version}", packages, may_fetch=not options.cached, cache=options.cache)
        except npm_cache.Missing as problem:
            print(f"e2e: {problem}")
            return SKIPPED if options.cached else 1
        print(f"{PACKAGE} {version}", flush=True)
        failed += run(options.server, folder) != 0
    return 1 if failed else 0


sys.exit(main())
