"""Questions a handler asks in the middle of its work."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

Check = Callable[[str], bool]
"""Whether an answer will do."""


class Asking:
    """The part of a turn that asks. Every question may be answered by nobody: then it is None that comes back."""

    @property
    @abstractmethod
    def lang(self) -> str:
        """The language of the turn."""

    @abstractmethod
    async def listen(self, question: str, *, timeout: float = 30.0, lang: str | None = None) -> str | None:
        """Say `question` and wait for what the user says next; None when that is nothing in `timeout` seconds."""

    async def ask(
        self,
        question: str,
        *,
        timeout: float = 30.0,
        retries: int = 0,
        again: str | None = None,
        check: Check | None = None,
        lang: str | None = None,
    ) -> str | None:
        """The user's answer to `question`, or None when there was none within `timeout` seconds.

        An answer that `check` does not accept, or silence, is followed by the question again (or by `again`), at most
        `retries` times.
        """
        for attempt in range(retries + 1):
            answer = await self.listen((again or question) if attempt else question, timeout=timeout, lang=lang)
            if answer is not None and (check is None or check(answer)):
                return answer
        return None

    async def ask_yes_no(
        self, question: str, *, timeout: float = 30.0, retries: int = 1, again: str | None = None
    ) -> bool | None:
        """Whether the user said yes or no; None when it was neither."""
        from hark.intents.answers import yes_or_no  # most plugins never ask

        answer = await self.ask(
            question,
            timeout=timeout,
            retries=retries,
            again=again,
            check=lambda said: yes_or_no(said, self.lang) is not None,
        )
        return None if answer is None else yes_or_no(answer, self.lang)

    async def ask_choice(
        self,
        options: Sequence[str],
        question: str,
        *,
        timeout: float = 30.0,
        retries: int = 1,
        again: str | None = None,
    ) -> str | None:
        """Which of `options` the user chose: by its number, by its name, or by something like its name."""
        from hark.intents.answers import choose

        answer = await self.ask(
            question,
            timeout=timeout,
            retries=retries,
            again=again,
            check=lambda said: choose(said, options, self.lang) is not None,
        )
        chosen = None if answer is None else choose(answer, options, self.lang)
        return None if chosen is None else options[chosen]
