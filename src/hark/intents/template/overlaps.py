"""Sentences that two skills both claim, for `hark doctor`."""

from __future__ import annotations

from typing import Final, NamedTuple

from hark.intents.grammar import is_slot
from hark.intents.template.pool import TemplatePool
from hark.spec import DEFAULT_SESSION_ID

_ANYTHING: Final = "\0"
"""Stands for what fills a slot: no sentence has it as a word."""


class Overlap(NamedTuple):
    """A sentence of one skill that fits a sentence of another."""

    sentence: str
    lang: str
    winner: str
    """The intent that gets it."""
    loser: str
    """The intent of another skill that would have it too."""


def overlaps(pool: TemplatePool, session_id: str = DEFAULT_SESSION_ID) -> list[Overlap]:
    """Every sentence that fits intents of two skills, one entry for each pair of intents, in the order of registration.

    A sentence with slots counts when the other fits it whatever fills them. Of an intent with very many sentences some
    are looked at. Context gates are not considered: two skills may take turns.
    """
    found: dict[frozenset[str], Overlap] = {}
    scopes = [pool.scope(scope_id) for scope_id in dict.fromkeys((DEFAULT_SESSION_ID, session_id))]
    for intent in pool.intents(session_id):
        for sentence in intent.samples:
            words = [_ANYTHING if is_slot(term) else term for term in sentence]
            claims = [
                claim
                for scope in scopes
                if (index := scope.roots.get(intent.tag)) is not None
                for claim in index.exact.claims(words)
            ]
            claims.sort(key=lambda claim: claim.rank)
            winner = claims[0].intent
            for claim in claims:
                labels = frozenset((winner.label, claim.intent.label))
                if claim.intent.skill_id != winner.skill_id and labels not in found:
                    found[labels] = Overlap(" ".join(sentence), intent.lang, winner.label, claim.intent.label)
    return list(found.values())
