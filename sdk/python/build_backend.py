"""Builds the wheel of the package for pip (PEP 517). The package is pure Python, so that this is all it takes."""

import base64
import hashlib
import pathlib
import tomllib
import zipfile

PLACE = pathlib.Path(__file__).resolve().parent
MOMENT = (2000, 1, 1, 0, 0, 0)  # the same files make the same wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = tomllib.loads((PLACE / "pyproject.toml").read_text())["project"]
    title = f"{project['name']}-{project['version']}"
    files = {str(path.relative_to(PLACE)): path.read_bytes() for path in sorted(PLACE.glob("holdfast/*")) if path.is_file()}
    files[f"{title}.dist-info/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\nSummary: {project['description']}\n"
        f"Requires-Python: {project['requires-python']}\nDescription-Content-Type: text/markdown\n\n"
        f"{(PLACE / project['readme']).read_text()}"
    ).encode()
    files[f"{title}.dist-info/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: holdfast\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = f"{title}.dist-info/RECORD"
    lines = [f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items()]
    files[record] = "".join([*lines, f"{record},,\n"]).encode()
    name = f"{title}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(zipfile.ZipInfo(path, MOMENT), data, zipfile.ZIP_DEFLATED)
    return name


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
