"""The settings file that documents every key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field

import msgspec

from hark.app.settings import Settings, settings_from
from hark.app.settings.document import document, field_docs
from hark.app.settings.tables import TABLES
from hark.builtin import DEFAULT_PLUGINS
from hark.plugins import Plugin
from hark.skills import Skill


def switched_on(text: str) -> str:
    """The document with every key set: prose has a space after its #, keys have none."""
    return re.sub(r"(?m)^#(?=\S)", "", text)


def test_the_document_says_nothing_but_the_defaults() -> None:
    assert settings_from(tomllib.loads(document(DEFAULT_PLUGINS))) == Settings()


def test_every_key_it_shows_has_its_default() -> None:
    settings = settings_from(tomllib.loads(switched_on(document(DEFAULT_PLUGINS))))
    assert msgspec.structs.replace(settings, entries={}, plugins={}, transformer={}, wake={}, engine={}) == Settings()


def test_it_shows_every_key_of_every_table_with_its_documentation() -> None:
    text = document()
    for name, shape in TABLES.items():
        docs = field_docs(shape)
        _, _, table = text.partition(f"\n[{name}]\n")
        table = table.partition("\n\n")[0]
        flat = re.sub(r"\n# ", " ", table)
        for key in shape.__struct_fields__:
            assert key in docs, f"[{name}] {key} has no docstring"
            assert " ".join(docs[key].split()) in flat
            assert f"#{key} = " in table or f"# {key} is not set by default" in table


def test_plugins_are_shown_with_their_settings() -> None:
    text = document(DEFAULT_PLUGINS)
    assert "#[plugins.template]\n# Whether only the skill itself may deregister it.\n#protect_skills = true" in text
    assert "clock.skill" not in text  # it has nothing to be set


class Demanding(Plugin):
    """Wants to know things.

    And has more to say about it.
    """

    id = "demanding.one"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        where: str
        """Has no default."""
        names: tuple[str, ...] = field(default_factory=lambda: ("a", 'b"'))
        limit: float | None = None
        """Is none by default."""


class Nothing(Skill):
    """A skill without settings."""

    id = "nothing.skill"


def test_a_third_partys_plugin_is_documented_by_its_docstrings() -> None:
    text = document([Demanding, Nothing])
    assert text.endswith(
        """\
# demanding.one: Wants to know things.
#[plugins."demanding.one"]
# Has no default.
# where is not set by default
#names = ["a", "b\\""]
# Is none by default.
# limit is not set by default
"""
    )
    assert settings_from(tomllib.loads(switched_on(text))).plugins == {"demanding.one": {"names": ["a", 'b"']}}


def test_a_class_without_source_has_no_documentation() -> None:
    assert field_docs(type("Made", (), {"__annotations__": {"x": int}})) == {}
