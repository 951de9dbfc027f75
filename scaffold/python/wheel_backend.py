"""Builds this package with the standard library alone (PEP 517 and 660), so that installing it needs no index."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
PACKAGE = "amigo_tool_scaffold"
SOURCE_FILES = ("pyproject.toml", "README.md", "wheel_backend.py")

# Fixed, so that the same sources give the same bytes. The earliest date that a zip archive can hold.
ZIP_DATE = (1980, 1, 1, 0, 0, 0)
TAR_DATE_SECONDS = 315_532_800

Settings = dict[str, Any] | None


def build_wheel(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Writes the wheel into `wheel_directory` and returns its file name."""
    return _write_wheel(Path(wheel_directory), _package_files())


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    """Writes a wheel that only points at the sources."""
    return _write_wheel(Path(wheel_directory), {f"{PACKAGE}.pth": f"{ROOT}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Writes the source archive into `sdist_directory` and returns its file name."""
    top = f"{PACKAGE}-{_project()['version']}"
    files = {name: (ROOT / name).read_bytes() for name in SOURCE_FILES} | _package_files()
    files["PKG-INFO"] = _metadata()
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime = len(content), TAR_DATE_SECONDS
            archive.addfile(entry, io.BytesIO(content))
    target = Path(sdist_directory) / f"{top}.tar.gz"
    target.write_bytes(gzip.compress(raw.getvalue(), mtime=0))
    return target.name


def _write_wheel(directory: Path, files: dict[str, bytes]) -> str:
    name = f"{PACKAGE}-{_project()['version']}"
    info = f"{name}.dist-info"
    tag = "Wheel-Version: 1.0\nGenerator: wheel_backend\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files = {**files, f"{info}/METADATA": _metadata(), f"{info}/WHEEL": tag.encode()}
    record = "".join(f"{path},sha256={_digest(content)},{len(content)}\n" for path, content in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = directory / f"{name}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, ZIP_DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, content)
    return wheel.name


def _package_files() -> dict[str, bytes]:
    found = sorted((ROOT / PACKAGE).glob("*"))
    return {f"{PACKAGE}/{path.name}": path.read_bytes() for path in found if path.suffix == ".py" or path.name == "py.typed"}


def _project() -> dict[str, Any]:
    document = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project: dict[str, Any] = document["project"]
    return project


def _metadata() -> bytes:
    project = _project()
    lines = (
        "Metadata-Version: 2.2",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"License: {project['license']['text']}",
        f"Requires-Python: {project['requires-python']}",
    )
    return ("\n".join(lines) + "\n").encode()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
