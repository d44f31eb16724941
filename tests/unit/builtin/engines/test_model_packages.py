"""Models in packages: only the very files are used."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from hark.builtin.engines.model_packages import ModelPackage
from hark.plugins.engines import Unavailable


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelPackage:
    folder = tmp_path / "some_models" / "model"
    folder.mkdir(parents=True)
    (tmp_path / "some_models" / "__init__.py").write_text("raise RuntimeError('its code must not run')")
    (folder / "model.bin").write_bytes(b"weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    return ModelPackage("some_models", "model", {"model.bin": hashlib.sha256(b"weights").hexdigest()})


def test_a_model_with_the_right_files_is_found(package: ModelPackage, tmp_path: Path) -> None:
    assert package.find() == tmp_path / "some_models" / "model"


@pytest.mark.parametrize("content", [b"other weights", None])
def test_a_model_with_another_file_or_none_is_refused(
    package: ModelPackage, tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "some_models" / "model" / "model.bin"
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(Unavailable, match="wrong digest"):
        package.find()


def test_a_package_that_is_not_installed_has_no_model() -> None:
    assert ModelPackage("no_such_models", "model", {}).find() is None
