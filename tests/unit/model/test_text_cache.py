"""The cache for what is computed from texts."""

from __future__ import annotations

from hark.model.text_cache import cached_by_text


def test_short_texts_are_computed_once_and_long_ones_are_not_kept() -> None:
    computed: list[str] = []

    @cached_by_text(10, longest=5)
    def doubled(text: str, times: int = 2) -> str:
        computed.append(text)
        return text * times

    for _ in range(3):
        assert doubled("abc") == "abcabc"
        assert doubled("abc", 1) == "abc"
        assert doubled("abcdef", times=1) == "abcdef"
    assert computed == ["abc", "abc", "abcdef", "abcdef", "abcdef"]
