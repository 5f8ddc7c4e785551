#!/usr/bin/env python3
"""Runs the official TypeScript SDK of MCP against `holdfast mcp-server`. README.md in the folder above says what that proves."""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGE = "@modelcontextprotocol/sdk"
DEFAULT = ("1.20.0", "1.32.2")
FETCH_SECONDS = 600
SCENARIO_SECONDS = 300
SKIPPED = 77  # the exit code by which ctest knows a skipped test


class NoClient(Exception):
    pass


def absolute(path):
    return pathlib.Path(path).resolve()


def find(cache, version, may_fetch):
    """Returns the folder whose node_modules has the SDK."""
    folder = cache / f"mcp-sdk-{version}"
    if not folder.is_dir():
        if not may_fetch:
            raise NoClient(f"{folder} does not exist; make e2e fetches it")
        fetch(cache, version, folder)
    return folder


def fetch(cache, version, folder):
    """Installs beside its place and renames, so that a half-fetched client is never taken for a whole one."""
    if not shutil.which("npm"):
        raise NoClient(f"npm is needed to fetch {PACKAGE} {version} (once; it is then kept in {cache})")
    print(f"fetching {PACKAGE} {version} into {cache}", flush=True)
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as place:
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", place, f"{PACKAGE}@{version}"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=FETCH_SECONDS)
        if done.returncode != 0:
            raise NoClient(f"npm failed: {done.stderr.strip()[-2000:]}")
        os.chmod(place, 0o755)
        shutil.copytree(place, folder, symlinks=True)


def run(server, folder):
    # The modules of the SDK are found from the place of the script, so a copy of it lies beside them.
    script = absolute(__file__).parent / "client.mjs"
    with tempfile.TemporaryDirectory(prefix="holdfast-mcp-", dir="/var/tmp") as work:
        (pathlib.Path(work) / "node_modules").symlink_to(folder / "node_modules")
        copy = pathlib.Path(work) / script.name
        shutil.copy(script, copy)
        return subprocess.run(["node", str(copy), str(server), work], stdin=subprocess.DEVNULL, timeout=SCENARIO_SECONDS).returncode


def main():
    root = absolute(__file__).parent.parent.parent.parent
    cache = os.environ.get("HOLDFAST_E2E_CACHE") or str(root / "build/e2e-cache")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", type=absolute, default=root / "build/release/bin/holdfast")
    parser.add_argument("--versions", type=lambda text: text.replace(",", " ").split() or DEFAULT, default=DEFAULT)
    parser.add_argument("--cache", type=absolute, default=cache, help="where fetched clients are kept")
    parser.add_argument("--cached", action="store_true", help=f"fetch nothing; exit with {SKIPPED} if a client is missing")
    options = parser.parse_args()
    failed = 0
    for version in options.versions:
        try:
            if not shutil.which("node"):
                raise NoClient("node is needed")
            folder = find(options.cache, version, may_fetch=not options.cached)
        except NoClient as problem:
            print(f"e2e: {problem}")
            return SKIPPED if options.cached else 1
        print(f"{PACKAGE} {version}", flush=True)
        failed += run(options.server, folder) != 0
    return 1 if failed else 0


sys.exit(main())
