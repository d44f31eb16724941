"""The yardstick: TF-IDF of words and of characters, and logistic regression over all intents."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from intents.corpus import Corpus
from intents.engines import Answer


class Adapter:
    """scikit-learn as people use it. It learns all intents together, so one more means to learn all again."""

    def __init__(self, free: bool) -> None:
        text: Any = import_module("sklearn.feature_extraction.text")
        pipeline: Any = import_module("sklearn.pipeline")
        linear: Any = import_module("sklearn.linear_model")
        features = pipeline.make_union(
            text.TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"(?u)\b\w+\b"),
            text.TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True),
        )
        self._model = pipeline.make_pipeline(features, linear.LogisticRegression(C=10, max_iter=300))
        self._spoken: dict[str, list[str]] = {}

    def train(self, corpus: Corpus) -> None:
        """Fit all sentences."""
        self._spoken = dict(corpus.spoken)
        self._fit()

    def add(self, name: str, templates: list[str], spoken: list[str]) -> None:
        """Fit all sentences again."""
        self._spoken[name] = spoken
        self._fit()

    def match(self, text: str) -> Answer:
        """The likeliest intent; its probability is the score."""
        chances = self._model.predict_proba([text])[0]
        best = int(chances.argmax())
        return Answer(str(self._model.classes_[best]), float(chances[best]), {})

    def _fit(self) -> None:
        pairs = [(sentence, name) for name, spoken in self._spoken.items() for sentence in spoken]
        self._model.fit([sentence for sentence, _ in pairs], [name for _, name in pairs])
