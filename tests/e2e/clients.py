"""The published clients: fetched by npm once, then taken from the cache folder."""
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from versions import MODEL, PACKAGE

FETCH_SECONDS = 900


class NoClient(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Client:
    version: str
    binary: pathlib.Path

    def can(self, feature):
        return minor_of(self.version) >= feature.since


def minor_of(version):
    match = re.fullmatch(r"0\.(\d+)\.\d+(-(alpha|beta)\.\d+)?", version)
    if not match:
        raise NoClient(f"{version} is not a version such as 0.166.0")
    return int(match[1])


def find(cache, version):
    if minor_of(version) < MODEL.since:
        raise NoClient(f"codex {version} is too old: only clients since 0.{MODEL.since} {MODEL.what}")
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
    print(f"fetching codex {version} into {cache}", flush=True)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, prefix="fetch-") as folder:
            _pack(version, folder)
            (archive,) = pathlib.Path(folder).glob("*.tgz")
            _run("tar", "xzf", archive, "-C", folder)
            archive.unlink()
            (pathlib.Path(folder) / "package").rename(cache / version)
    except PermissionError as problem:
        raise NoClient(f"codex {version} cannot be kept: {problem}; HOLDFAST_E2E_CACHE names another folder") from None


def _pack(version, folder):
    try:
        _run("npm", "pack", f"{PACKAGE}@{version}-linux-x64", "--pack-destination", folder)
    except NoClient as problem:
        if "ETARGET" not in str(problem):  # npm's word for a package without such a version
            raise
        raise NoClient(f"codex {version} was not published for this platform; `npm view {PACKAGE} versions` lists "
                       "what was") from None


def _run(*argv):
    try:
        result = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=FETCH_SECONDS)
    except subprocess.TimeoutExpired:
        raise NoClient(f"{argv[0]} took longer than {FETCH_SECONDS} s") from None
    if result.returncode != 0:
        raise NoClient(f"{argv[0]} failed: {result.stderr.strip()[-2000:]}")
