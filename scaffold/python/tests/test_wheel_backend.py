"""The package installs without an index, from its source archive."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import wheel_backend


def test_wheel_holds_every_module_and_the_typing_marker(tmp_path: Path) -> None:
    name = wheel_backend.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / name) as wheel:
        packaged = {Path(entry).name for entry in wheel.namelist() if entry.startswith("amigo_tool_scaffold/")}
    sources = {path.name for path in (wheel_backend.ROOT / "amigo_tool_scaffold").glob("*.py")}
    assert packaged == sources | {"py.typed"}


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    for build in (wheel_backend.build_wheel, wheel_backend.build_sdist, wheel_backend.build_editable):
        first, second = tmp_path / f"{build.__name__}_1", tmp_path / f"{build.__name__}_2"
        contents = []
        for directory in (first, second):
            directory.mkdir()
            contents.append((directory / build(str(directory))).read_bytes())
        assert contents[0] == contents[1]


def test_source_archive_has_one_top_directory(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / wheel_backend.build_sdist(str(tmp_path))) as archive:
        names = archive.getnames()
    assert {name.split("/")[0] for name in names} == {"amigo_tool_scaffold-0.1.0"}
    assert "amigo_tool_scaffold-0.1.0/PKG-INFO" in names


def test_pip_installs_it_without_an_index(tmp_path: Path) -> None:
    archive = tmp_path / wheel_backend.build_sdist(str(tmp_path))
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--disable-pip-version-check"]
    subprocess.run([*pip, "--target", str(target), str(archive)], check=True)
    code = "from amigo_tool_scaffold.user_variables import UserVariables; print(UserVariables())"
    answer = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(target)}, cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert answer.stdout == "UserVariables(nonsensitive={})\n"
