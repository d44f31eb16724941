"""The settings of single plugins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hark.app.settings import settings_from
from hark.builtin import KeywordMatcher
from hark.plugins import Plugin


class Plain(Plugin):
    """Has no settings."""

    id = "plain"


class Odd(Plugin):
    """Has something else under that name."""

    id = "odd"
    Settings = 5  # type: ignore[assignment]


class Guarded(Plugin):
    """Has the setting, from its base."""

    id = "guarded"

    @dataclass(frozen=True)
    class Settings(KeywordMatcher.Settings):
        """More than that."""

        more: int = 1


def table(plugin: type[Plugin], assistant: dict[str, Any], **own: Any) -> dict[str, Any] | None:
    tree = {"assistant": assistant, **({"plugins": {plugin.id: own}} if own else {})}
    return settings_from(tree).table_for(plugin.id, plugin)


@pytest.mark.parametrize("plugin", [KeywordMatcher, Guarded])
def test_a_general_setting_reaches_the_plugins_that_have_it(plugin: type[Plugin]) -> None:
    assert table(plugin, {}) is None
    assert table(plugin, {"protect_skills": True}) is None
    assert table(plugin, {"protect_skills": False}) == {"protect_skills": False}
    assert table(plugin, {"protect_skills": False}, floor=0.3) == {"protect_skills": False, "floor": 0.3}


def test_the_table_of_a_plugin_overrides_a_general_setting() -> None:
    assert table(KeywordMatcher, {"protect_skills": False}, protect_skills=True) == {"protect_skills": True}
    assert table(KeywordMatcher, {}, protect_skills=False) == {"protect_skills": False}


@pytest.mark.parametrize("plugin", [Plain, Odd])
def test_a_plugin_without_the_setting_does_not_get_it(plugin: type[Plugin]) -> None:
    assert table(plugin, {"protect_skills": False}) is None
    assert table(plugin, {"protect_skills": False}, size=3) == {"size": 3}
