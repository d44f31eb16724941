"""Language tags."""

from __future__ import annotations

from typing import Any

import pytest

from hark.model.lang import canonical, has_form_of_tag, is_tag


@pytest.mark.parametrize(
    "tag", ["en", "en-US", "zh-Hant-TW", "de-CH-1996", "gsw", "sl-rozaj-biske", "en-a-bbb-x-a-ccc"]
)
def test_a_tag_has_the_form_of_one(tag: str) -> None:
    assert is_tag(tag)


@pytest.mark.parametrize(
    "value", ["", "e", "en_US", "en-", "-en", "en--US", "en US", "en\n", "ünï", "e1", "en-" + "a" * 9, None, 7, ["en"]]
)
def test_what_has_not_is_none(value: Any) -> None:
    assert not is_tag(value)


@pytest.mark.parametrize(
    ("tag", "usual"),
    [
        ("EN", "en"),
        ("pt-br", "pt-BR"),
        ("ZH-HANT-tw", "zh-Hant-TW"),
        ("de-ch-1996", "de-CH-1996"),
        ("sl-Rozaj-BISKE", "sl-rozaj-biske"),
        ("EN-us-X-TWAIN-ab-Abcd", "en-US-x-twain-ab-abcd"),
        ("en-A-BB", "en-a-bb"),
        ("es-419", "es-419"),
    ],
)
def test_a_tag_has_one_usual_case(tag: str, usual: str) -> None:
    assert canonical(tag) == usual
    assert canonical(usual) == usual


def test_what_is_too_long_for_a_tag_is_not_remembered() -> None:
    before = has_form_of_tag.cache_info().currsize
    assert not is_tag("en" + "-abc" * 100_000)
    assert has_form_of_tag.cache_info().currsize == before


def test_a_tag_may_have_any_number_of_parts() -> None:
    # A client sends what it likes: this took an hour when each part was compared with all before it.
    assert canonical("EN-" * 400_000 + "us").endswith("-EN-US")
