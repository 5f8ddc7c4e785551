"""The published clients: fetched by npm once, then taken from the cache folder."""
import dataclasses
import os
import pathlib
import shutil
import subprocess
import tempfile

VERSIONS = ("0.130.0", "0.142.5", "0.166.0")
FETCH_SECONDS = 900


class NoClient(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Client:
    version: str
    binary: pathlib.Path

    @property
    def minor(self):
        return int(self.version.split(".")[1])


def find(cache, version):
    folder = cache / version
    if not folder.is_dir():
        _fetch(cache, version)
    # Where in the package it lies differs between versions.
    for path in sorted(folder.rglob("codex")):
        if path.is_file() and os.access(path, os.X_OK):
            return Client(version, path)
    raise NoClient(f"no codex program below {folder}")


def _fetch(cache, version):
    """Unpacks beside its place and renames, so that a half-fetched client is never taken for a whole one."""
    if not shutil.which("npm"):
        raise NoClient(f"npm is needed to fetch codex {version} (once; it is then kept in {cache})")
    cache.mkdir(parents=True, exist_ok=True)
    print(f"fetching codex {version} into {cache}", flush=True)
    with tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as folder:
        _run("npm", "pack", f"@openai/codex@{version}-linux-x64", "--pack-destination", folder)
        (archive,) = pathlib.Path(folder).glob("*.tgz")
        _run("tar", "xzf", archive, "-C", folder)
        archive.unlink()
        (pathlib.Path(folder) / "package").rename(cache / version)


def _run(*argv):
    try:
        result = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        raise NoClient(f"{argv[0]} took longer than {FETCH_SECONDS} s") from None
    if result.returncode != 0:
        raise NoClient(f"{argv[0]} failed: {result.stderr.strip()[-2000:]}")
