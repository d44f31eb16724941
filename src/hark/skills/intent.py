"""Saying what a skill understands by examples: the `@intent` mark on its methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hark.intents import TemplateError
from hark.intents.grammar import Template, parse
from hark.skills.errors import MalformedIntent
from hark.skills.marks import F, Gate, Marked, Wording, check_lang, mark, read_gates, several, where_of

__all__ = ["MalformedIntent", "intent", "read_templates", "wording"]


def intent(
    *samples: str,
    file: str | None = None,
    lang: str | None = None,
    name: str | None = None,
    required_slots: Sequence[str] = (),
    blacklist: Sequence[str] = (),
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
) -> Callable[[F], F]:
    """Make a method of a `Skill` the handler of what these samples say, or those in a file.

    Samples are templates: `"turn (on|off) [the] {room} light"`; `<name>` stands for the phrases in `name.voc` of the
    skill's locale folder. The intent is called like the method unless `name` says otherwise. Put one mark on top of the
    other for several languages; without `lang`, samples are in the skill's own. `file="time_in"` takes the samples from
    `locale/<lang>/time_in.intent` in every language there is, and the intent is called like the file.

    A slot that is in every sentence has to be filled, and so have `required_slots`; a phrase of `blacklist` rules the
    intent out, `requires` and `excludes` name what has to be, or must not be, remembered. Mistakes raise
    `MalformedIntent` when the class is made, not when somebody speaks.
    """

    def marked(method: F) -> F:
        where = where_of(method)
        read = wording(where, samples, file, lang, required_slots, blacklist, requires, excludes)
        if file is not None and name not in (None, file):
            raise MalformedIntent(f"{where}: the intent is called like its file, {file!r}; leave out name=")
        return mark(method, Marked(name or file or method.__name__, bool(name or file), (read,)))

    return marked


def wording(
    where: str,
    samples: Sequence[str] = (),
    file: str | None = None,
    lang: str | None = None,
    required_slots: Sequence[str] = (),
    blacklist: Sequence[str] = (),
    requires: Sequence[Gate] = (),
    excludes: Sequence[Gate] = (),
) -> Wording:
    """What an author wrote, checked as far as that can be done without the locale folder."""
    found = Wording(
        where,
        tuple(samples),
        file,
        lang,
        several(where, "required_slots", required_slots),
        several(where, "blacklist", blacklist),
        read_gates(where, requires, excludes),
    )
    check_lang(where, lang)
    if file is not None and found.samples:
        raise MalformedIntent(f"{where}: samples or a file, not both; put one @intent on top of the other")
    if file is None and not found.samples:
        raise MalformedIntent(f"{where}: @intent needs at least one sample sentence, or a file")
    slots = {slot for template in read_templates(where, found.samples) for slot in template.slots}
    read_templates(where, found.blacklist, slots=False)
    if file is None:
        check_required_slots(where, found, slots)
    return found


def check_required_slots(where: str, found: Wording, slots: Any) -> None:
    """Refuse a required slot that no sample has."""
    for name in found.required_slots:
        if name not in slots:
            raise MalformedIntent(f"{where}: required_slots names {name!r}, which no sample has")


def read_templates(where: str, texts: Sequence[str], *, slots: bool = True) -> list[Template]:
    """The templates an author wrote; raises `MalformedIntent`. Vocabularies they refer to are not looked at yet."""
    try:
        return [parse(text, slots=slots) for text in texts]
    except TemplateError as error:
        raise MalformedIntent(f"{where}: {error}") from None
    except TypeError:
        raise MalformedIntent(f"{where}: samples and blacklist are text") from None
