"""Stopping what skills do (STOP-1 §4.3, §5.3)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager

from hark.act.work import Work
from hark.hosting import Loaded, Outcome, Runner
from hark.model import Frozen, Message, Session
from hark.plugins import Plugin, Turn
from hark.plugins.handlers import ConversationPlugin
from hark.plugins.turn import TurnHost
from hark.spec import dispatch_topic

log = logging.getLogger("hark.act")

_LIMIT = 10.0
"""Seconds a skill may take to clean up."""


class Stopping:
    """Ends what runs for a skill in one session, then lets the skill know. A second stop finds nothing to do."""

    def __init__(self, stage: TurnHost, runner: Runner, work: Work) -> None:
        self._stage = stage
        self._runner = runner
        self._work = work
        self._plugins: dict[str, Plugin] = {}
        self._under_way: set[tuple[str, str]] = set()

    def attach(self, plugin: Plugin) -> None:
        """Stop this plugin when everything is stopped."""
        self._plugins[plugin.id] = plugin

    def detach(self, plugin_id: str) -> None:
        """Stop it no more."""
        self._plugins.pop(plugin_id, None)

    async def stop(self, plugin: Plugin, turn: Turn) -> object:
        """The handler of `<skill_id>:stop`: what it returns is said, as of any handler."""
        with self._once(plugin.id, turn.session.session_id) as first:
            if not first:
                return None
            await self._work.cancel(plugin.id, turn.session.session_id)
            outcome = await self._told(plugin, turn)
        if outcome is None:
            return None
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

    async def stop_all(self, message: Message) -> None:
        """`ovos.stop`: everything there is in the session of the Message, and nothing of any other."""
        # At once: a skill that takes its time to clean up must not keep the others going.
        await asyncio.gather(*(self._stop_in(plugin, message) for plugin in list(self._plugins.values())))

    async def _stop_in(self, plugin: Plugin, message: Message) -> None:
        session = message.session or Session()
        with self._once(plugin.id, session.session_id) as first:
            if not first:
                return
            busy = await self._work.cancel(plugin.id, session.session_id)
            if busy or await self._may_be_stopped(plugin, session):
                said = Frozen(lang=session.lang or "", utterance="", slots=Frozen())
                turn = Turn(message.forward(dispatch_topic(plugin.id, "stop"), said), self._stage, plugin)
                outcome = await self._told(plugin, turn)
                if outcome is not None and outcome.error is not None:
                    log.error("%s failed to stop: %s", plugin.id, outcome.failure)

    @contextmanager
    def _once(self, skill_id: str, session_id: str) -> Iterator[bool]:
        """Whether this is the first of the stops of a skill in a session that are under way."""
        key = skill_id, session_id
        if key in self._under_way:
            yield False
            return
        self._under_way.add(key)
        try:
            yield True
        finally:
            self._under_way.discard(key)

    async def _may_be_stopped(self, plugin: Plugin, session: Session) -> bool:
        if not isinstance(plugin, ConversationPlugin) or type(plugin).can_stop is ConversationPlugin.can_stop:
            return False
        outcome = await self._runner.call(Loaded(plugin, plugin.can_stop, limit=_LIMIT), session)
        return outcome.value is True

    async def _told(self, plugin: Plugin, turn: Turn) -> Outcome | None:
        if not isinstance(plugin, ConversationPlugin) or type(plugin).stopped is ConversationPlugin.stopped:
            return None
        return await self._runner.call(Loaded(plugin, plugin.stopped, limit=_LIMIT), turn)
