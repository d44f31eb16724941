"""Which of several processes with the same plugin is to act for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from hark.act.questions import Questions
from hark.act.running_work import RunningWork
from hark.bus import Bus
from hark.model import Message
from hark.spec import split_dispatch, topics

_MOST: Final = 1_000
"""Handlers in other processes that are known at once."""


class SharedPlugins:
    """A pipeline plugin exists in every process that understands. What is asked of it is for the process in which it is
    at work in that session; where it is at work in none, for the one in which the turn is open.

    `is_shared` says whether a plugin is such a one, `opens` whether the turn of a Message is open in this process.
    """

    def __init__(
        self,
        bus: Bus,
        host: str,
        work: RunningWork,
        questions: Questions,
        is_shared: Callable[[str], bool],
        opens: Callable[[Message], bool],
    ) -> None:
        self._host = host
        self._work = work
        self._questions = questions
        self.is_shared = is_shared
        self._opens = opens
        self._elsewhere: dict[str, tuple[str, str]] = {}
        """Skill and session of each handler that runs in another process, by its turn."""
        self._asking: set[str] = set()
        """Those of them that wait for an answer."""
        self._subscriptions = (
            bus.on(topics.HANDLER_ACCEPTED, self._accepted, name="shared plugins: accepted"),
            bus.on(topics.HANDLER_WAITING, self._waits, name="shared plugins: waiting"),
            bus.on((topics.HANDLER_DONE, topics.UTTERANCE_HANDLED), self._ended, name="shared plugins: ended"),
        )

    def close(self) -> None:
        for subscription in self._subscriptions:
            subscription.close()

    def answers(self, plugin_id: str, message: Message, *, is_repeated: bool = False) -> bool:
        """Whether this process is to act for a plugin. A call that is repeated was accepted by no other."""
        if not self.is_shared(plugin_id):
            return True
        if self._work.is_busy(plugin_id, message.session_id):
            return True
        if not is_repeated and (plugin_id, message.session_id) in self._elsewhere.values():
            return False
        return self._opens(message)

    def runs(self, dispatch: Message, is_repeated: bool) -> bool:
        """Whether a handler is to run here: where its turn is open. A stop is for what is at work, an answer for what
        waits for it.
        """
        skill_id, intent_name = split_dispatch(dispatch.type)
        if not self.is_shared(skill_id):
            return True
        if intent_name == "stop":
            return self.answers(skill_id, dispatch, is_repeated=is_repeated)
        if intent_name == "response":
            called = skill_id, dispatch.session_id
            if self._questions.waits(*called):
                return True
            if not is_repeated and any(self._elsewhere.get(one) == called for one in self._asking):
                return False
        return self._opens(dispatch)

    def _accepted(self, message: Message) -> None:
        topic = message.data.get("topic")
        if message.data.get("host") == self._host or not isinstance(topic, str):
            return
        skill_id = split_dispatch(topic)[0]
        if self.is_shared(skill_id):
            self._elsewhere[message.utterance_id or ""] = skill_id, message.session_id
            if len(self._elsewhere) > _MOST:
                oldest = next(iter(self._elsewhere))
                del self._elsewhere[oldest]
                self._asking.discard(oldest)

    def _waits(self, message: Message) -> None:
        utterance_id = message.utterance_id or ""
        if message.data.get("waits") is not True:
            self._asking.discard(utterance_id)
        elif utterance_id in self._elsewhere:
            self._asking.add(utterance_id)

    def _ended(self, message: Message) -> None:
        self._elsewhere.pop(message.utterance_id or "", None)
        self._asking.discard(message.utterance_id or "")
