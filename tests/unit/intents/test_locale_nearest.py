"""Which language serves where another is missing."""

from __future__ import annotations

import pytest

from hark.intents.locale import nearest


@pytest.mark.parametrize(
    ("lang", "available", "found"),
    [
        ("en-US", ["de-DE", "en-GB", "en-US"], ["en-US", "en-GB"]),
        ("EN-us", ["en-us"], ["en-us"]),
        ("en-AU", ["en-US", "en-GB"], ["en-GB", "en-US"]),
        ("en-PH", ["en-GB", "en-US"], ["en-US", "en-GB"]),
        ("en", ["en-GB", "en-US"], ["en-US", "en-GB"]),
        ("de-AT", ["de-DE", "de"], ["de", "de-DE"]),
        ("de", ["de-AT", "de-DE"], ["de-AT", "de-DE"]),
        ("pt", ["pt-BR", "pt-PT"], ["pt-PT", "pt-BR"]),
        ("pt-AO", ["pt-BR", "pt-PT"], ["pt-PT", "pt-BR"]),
        ("es-MX", ["es-ES", "es-419"], ["es-419", "es-ES"]),
        ("nb", ["no"], ["no"]),
        ("zh-CN", ["zh-Hant", "zh-Hans"], ["zh-Hans"]),
        ("zh-HK", ["zh-CN", "zh-TW"], ["zh-TW"]),
        ("sr-Latn", ["sr"], []),
        ("en-Latn-US", ["en-US"], ["en-US"]),
        ("en", ["fr-FR", "eng"], []),
        ("de-DE", [], []),
    ],
)
def test_the_nearest_comes_first_and_what_is_too_far_does_not_come(
    lang: str, available: list[str], found: list[str]
) -> None:
    assert nearest(lang, available) == found
    assert nearest(lang, reversed(available)) == found
