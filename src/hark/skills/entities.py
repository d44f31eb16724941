"""What slots are usually filled with (INTENT-4 §7)."""

from __future__ import annotations

from collections.abc import Sequence

from hark.intents.locale import Language
from hark.skills.definition import Definition
from hark.skills.errors import MalformedIntent
from hark.skills.intent import read_templates
from hark.skills.templates import check_templates
from hark.spec import is_skill_id


def entity_definition(slot: str, values: Sequence[str], language: Language) -> Definition:
    """The registration of values that were not read from a file; they may refer to vocabularies."""
    where = f"register_entity({slot!r})"
    if not is_skill_id(slot):
        raise MalformedIntent(f"{where}: {slot!r} is no name of a slot")
    if not values:
        raise MalformedIntent(f"{where}: there is no value")
    templates = check_templates(where, read_templates(where, values, slots=False), language)
    samples = [language.inline(template.text) for template in templates]
    return Definition("entity", slot, language.tag, {"samples": samples})
