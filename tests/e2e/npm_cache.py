#!/usr/bin/env python3
"""Packages that tests take from npm. They are fetched once, by `make e2e`, and kept in a folder. As a program it fetches those of
PACKAGES."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

FETCH_SECONDS = 600
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLACE = pathlib.Path(os.environ.get("HOLDFAST_E2E_CACHE") or ROOT / "build/e2e-cache")
# The folders in the cache, and what is in them.
PACKAGES = {
    "openrpc-meta-schema": ("@open-rpc/meta-schema@1.14.9", "@json-schema-tools/meta-schema@1.8.0"),
    "typescript": ("typescript@5.9.3", "@types/node@20.19.43"),
}


class Missing(Exception):
    pass


def folder(name, packages=None, *, may_fetch=False, cache=PLACE):
    """Returns the folder of that name, whose node_modules has these packages, or those of PACKAGES."""
    place = pathlib.Path(cache) / name
    if not place.is_dir():
        if not may_fetch:
            raise Missing(f"{place} does not exist; make e2e fetches it")
        fetch(place, packages or PACKAGES[name])
    return place


def fetch(place, packages):
    """Installs beside the place and renames, so that half-fetched packages are never taken for whole ones."""
    if not shutil.which("npm"):
        raise Missing(f"npm is needed to fetch {' '.join(packages)} (once; they are then kept in {place.parent})")
    print(f"fetching {' '.join(packages)} into {place.parent}", flush=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="fetch-") as beside:
        command = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", beside, *packages]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=FETCH_SECONDS)
        if done.returncode != 0:
            raise Missing(f"npm failed: {done.stderr.strip()[-2000:]}")
        os.chmod(beside, 0o755)
        shutil.copytree(beside, place, symlinks=True)


def main():
    for name in PACKAGES:
        try:
            folder(name, may_fetch=True)
        except Missing as problem:
            return f"npm_cache: {problem}"


if __name__ == "__main__":
    sys.exit(main())
