"""What single plugins are told by the settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from hark.app.settings import settings_from
from hark.builtin import KeywordMatcher
from hark.plugins import Plugin


class Plain(Plugin):
    """Has nothing to be set."""

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


def told(plugin: type[Plugin], assistant: dict[str, Any], **table: Any) -> dict[str, Any] | None:
    tree = {"assistant": assistant, **({"plugins": {plugin.id: table}} if table else {})}
    return settings_from(tree).table_for(plugin.id, plugin)


@pytest.mark.parametrize("plugin", [KeywordMatcher, Guarded])
def test_what_holds_for_everybody_is_told_to_those_who_can_be_told(plugin: type[Plugin]) -> None:
    assert told(plugin, {}) is None
    assert told(plugin, {"protect_skills": True}) is None
    assert told(plugin, {"protect_skills": False}) == {"protect_skills": False}
    assert told(plugin, {"protect_skills": False}, floor=0.3) == {"protect_skills": False, "floor": 0.3}


def test_a_plugin_that_is_told_otherwise_goes_by_that() -> None:
    assert told(KeywordMatcher, {"protect_skills": False}, protect_skills=True) == {"protect_skills": True}
    assert told(KeywordMatcher, {}, protect_skills=False) == {"protect_skills": False}


@pytest.mark.parametrize("plugin", [Plain, Odd])
def test_who_has_no_such_setting_hears_nothing_of_it(plugin: type[Plugin]) -> None:
    assert told(plugin, {"protect_skills": False}) is None
    assert told(plugin, {"protect_skills": False}, size=3) == {"size": 3}
