"""Animals that meddle with the session and the context, as far as they are let."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from hark.model import Match, Session
from hark.plugins import Ctx
from hark.spec.names import DENYLISTS, TRANSFORMER_PREFERENCES
from hark.testing.zoo.animal import CHAINS, Grip, behaviour, behaviours_in
from hark.testing.zoo.things import diary_of


@behaviour(points=CHAINS, shows="tame")
def drops_the_denylists(grip: Grip) -> Any:
    """Takes every denylist off the session."""
    if grip.ctx is not None:
        grip.ctx.session = grip.ctx.session.without(*DENYLISTS)
    return grip.tame


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_without_denylists(grip: Grip) -> Any:
    """Claims with a session that has lost its denylists and preferences."""
    session = grip.session or Session()
    updated = session.without(*DENYLISTS, *TRANSFORMER_PREFERENCES)
    return Match("tame", "answer", grip.lang, grip.artifact[0], updated_session=updated)


@behaviour(points=("matcher",), shows="tame", diverts=True)
def claims_with_another_session(grip: Grip) -> Any:
    """Claims with the session of somebody else."""
    return Match("tame", "answer", grip.lang, grip.artifact[0], updated_session=Session("somebody-else"))


@behaviour(points=CHAINS, shows="tame", diverts=True)
def moves_to_another_session(grip: Grip) -> Any:
    """Puts somebody else's session in the place of the turn's."""
    if grip.ctx is not None:
        grip.ctx.session = Session("somebody-else", blacklisted_skills=["tame"])
    return grip.tame


@behaviour(points=CHAINS, shows="tame", diverts=True)
def moves_to_the_device(grip: Grip) -> Any:
    """Puts an empty session of the device itself in the place of the turn's."""
    if grip.ctx is not None:
        grip.ctx.session = Session()
    return grip.tame


@behaviour(points=CHAINS, shows="malformed")
def sets_a_session_of_its_own_making(grip: Grip) -> Any:
    """Sets a session of a subclass that raises when it is read."""
    if grip.ctx is not None:
        grip.ctx.session = diary_of(grip.ctx.session)
    return grip.tame


@behaviour(points=CHAINS)
def sets_garbage_as_session(grip: Grip) -> Any:
    """Sets a dict where a session belongs."""
    if grip.ctx is not None:
        grip.ctx.session = {"session_id": "default"}  # type: ignore[assignment]
    return grip.tame


@behaviour(points=CHAINS)
def sets_garbage_in_the_context(grip: Grip) -> Any:
    """Sets a context key to what JSON cannot say."""
    if grip.ctx is not None:
        grip.ctx.set("zoo.garbage", object())
    return grip.tame


@behaviour(points=CHAINS)
def states_no_language(grip: Grip) -> Any:
    """States a language that is none."""
    if grip.ctx is not None:
        grip.ctx.lang = "no language at all"
    return grip.tame


@behaviour(points=CHAINS, shows="tame")
def clears_the_context(grip: Grip) -> Any:
    """Takes away every context key it is allowed to."""
    if grip.ctx is not None:
        for key in list(grip.ctx):
            try:
                grip.ctx.unset(key)
            except PermissionError:
                continue
    return grip.tame


@behaviour(points=CHAINS, shows="tame")
def writes_after_returning(grip: Grip) -> Any:
    """Keeps what it was given, and writes to what it kept the time before and in the middle of being judged."""
    ctx = grip.ctx
    for kept in grip.cage.kept:
        kept.set("zoo.kept", "should never be seen")
        kept.emit("zoo.unseen", {"why": "it came too late"})
    grip.cage.kept.append(ctx)
    if ctx is not None:
        grip.cage.thread(partial(_keep_writing, ctx))
    return grip.tame


def _keep_writing(ctx: Ctx) -> None:
    for number in range(1_000):
        ctx.set(f"zoo.{number}", number)


@behaviour(points=("handler",))
def moves_its_turn_elsewhere(grip: Grip) -> Any:
    """Assigns the session of somebody else to its turn."""
    if grip.turn is not None:
        grip.turn.session = Session("somebody-else")
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def breaks_its_turn(grip: Grip) -> Any:
    """Assigns nonsense to every attribute of its turn."""
    if grip.turn is not None:
        for name in list(vars(grip.turn)):
            setattr(grip.turn, name, None)
    return None


@behaviour(points=("handler",), shows="tame")
def drops_the_denylists_at_work(grip: Grip) -> Any:
    """Takes every denylist off the session, as a handler."""
    if grip.turn is not None:
        grip.turn.session = grip.turn.session.without(*DENYLISTS)
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def remembers_too_much(grip: Grip) -> Any:
    """Remembers two thousand things at once."""
    if grip.turn is not None:
        entries = {f"zoo:{number}": {"value": "x"} for number in range(2_000)}
        grip.turn.session = grip.turn.session.replace(intent_context=entries)
    return grip.tame


@behaviour(points=("handler",), shows="tame")
def speaks_after_returning(grip: Grip) -> Any:
    """Keeps its turn, and says something in the one before long after that has ended."""
    for turn in grip.cage.kept:
        turn.emit("zoo.late", {"why": "it came too late"})
    grip.cage.kept.append(grip.turn)
    return grip.tame


BEHAVIOURS: Final = behaviours_in(globals())
