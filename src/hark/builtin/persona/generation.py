"""Answering by a language model: sentences as they are written, and the tools that the model wants called."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from hark.builtin.persona.chat import ChatClient
from hark.builtin.persona.conversation import Said, SentenceCutter, as_text
from hark.builtin.persona.errors import ChatError, Trouble
from hark.builtin.persona.markup import offered_name
from hark.builtin.persona.tool_calls import ToolCall
from hark.builtin.persona.tools import NO_TOOLS, ToolDefinition, ToolError, ToolLimits, ToolSource
from hark.intents.speech import plain_text
from hark.plugins import Clock, Turn

Names = Sequence[str]
Note = Callable[[str], None]
"""Takes a line for `hark why`."""

_RETRY: Final = 0.5
"""Seconds until a server that failed is asked again, unless it says when."""
_RETRY_AT_MOST: Final = 5.0
"""Seconds that a busy server is waited for; a user waits too."""
_REST: Final = 30.0
"""Seconds for which another endpoint is asked first after one could not be reached."""
_REFUSED: Final = 600.0
"""Seconds for which a model that refused tools is asked without them."""

_REPEATED: Final = 3
"""How often a sentence is said that a model repeats: small ones do not come out of it again."""
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

_REMEDIES: Final = {
    "key": "check key_file or key_variable in [plugins.persona]",
    "unreachable": "is the server running? else check endpoint in [plugins.persona]",
    "busy": "it may be better later",
    "proxy": "check HTTP_PROXY, HTTPS_PROXY and NO_PROXY",
}


@dataclass(frozen=True)
class AnswerSentence:
    """A sentence of an answer, as it is said."""

    text: str
    asks: bool = False
    """Whether it is a question that the answer ends with."""


class Models:
    """The endpoints that may answer, in order of preference: where one cannot, the next is asked."""

    def __init__(self, clients: Sequence[ChatClient], clock: Clock) -> None:
        self._clients = clients
        self._clock = clock
        self._resting: dict[ChatClient, float] = {}
        """Those that could not be reached, and until when they are asked last."""
        self._without_tools: dict[tuple[ChatClient, str], tuple[float, str]] = {}
        """Models that take no tools: until when they are offered none, and what the server said."""
        self.failure = ""
        """What the last failure was, if nothing was answered since."""

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            await client.close()

    async def look(self) -> None:
        """Find out whether the endpoints answer, and which models they have; `failure` says what is wrong."""
        for client in self._clients:
            wanted = client.endpoint.model
            try:
                client.known_models = await client.models()
            except ChatError as error:
                if error.trouble not in ("not_found", "refused"):  # not every server lists its models
                    self.failure = f"{error}; {_REMEDIES.get(error.trouble, 'check endpoint in [plugins.persona]')}"
                continue
            # A name without its tag means the latest of it, at Ollama.
            names = {name for known in client.known_models for name in (known, known.partition(":")[0])}
            if wanted and names and wanted not in names:
                there = ", ".join(client.known_models[:10])
                self.failure = f"{client.endpoint.name} has no model {wanted!r}; it has: {there}"

    async def stream(
        self, messages: Sequence[Said], tools: Sequence[ToolDefinition], model: str, note: Note
    ) -> AsyncGenerator[str | ToolCall, None]:
        """The answer of the first that gives one. Once a piece of one has come, no other answer is begun."""
        described = [tool.described() for tool in tools]
        last = ChatError("address", "no endpoint is configured")
        for client in self._in_order():
            which = client, model or client.model
            until, reason = self._without_tools.get(which, (0.0, ""))
            offered = [] if until > self._clock.monotonic() else described
            for attempt in (1, 2):
                begun = False
                shown = messages if offered else as_text(messages)
                try:
                    note(_sent(client, shown, offered, model))
                    async with aclosing(client.stream(shown, offered, model)) as answer:
                        async for piece in answer:
                            begun = True
                            yield piece
                    self._resting.pop(client, None)
                    if not offered and reason:
                        self._without_tools[which] = until, reason
                    self.failure = reason if described and not offered else ""
                    return
                except ChatError as error:
                    last = error
                    self.failure = str(error)
                    note(f"{error.trouble}: {error}")
                    if begun:
                        raise
                if offered and last.may_be_about_tools:
                    offered, reason = [], f"asked without tools, because {last}"
                    until = self._clock.monotonic() + _REFUSED
                    continue
                wait = _RETRY if last.retry_after is None else last.retry_after
                if attempt == 2 or not last.may_pass_soon or wait > _RETRY_AT_MOST:
                    break
                if last.trouble != "cut":  # a server may have closed a connection that was to be used again
                    await self._clock.sleep(wait)
            if last.may_pass:
                self._resting[client] = self._clock.monotonic() + _REST
        raise last

    def _in_order(self) -> list[ChatClient]:
        now = self._clock.monotonic()
        return sorted(self._clients, key=lambda client: self._resting.get(client, now) > now)


def _sent(client: ChatClient, messages: Sequence[Said], tools: Sequence[Mapping[str, Any]], model: str) -> str:
    """What leaves the device."""
    size = sum(len(str(said.get("content") or "")) for said in messages)
    earlier = sum(said["role"] == "user" for said in messages) - 1
    kinds = f"{earlier} earlier exchange{'' if earlier == 1 else 's'}"
    if tools:
        kinds += f", {len(tools)} tool{'' if len(tools) == 1 else 's'} ({len(msgspec.json.encode(tools))} characters)"
    which = model or client.model or "its model"
    return f"sent to {client.endpoint.name}, {which}: {size} characters, {kinds}"


class Generation:
    """One answer to one utterance."""

    def __init__(
        self,
        models: Models,
        messages: Sequence[Said],
        lang: str,
        *,
        model: str = "",
        turn: Turn | None = None,
        tools: ToolSource = NO_TOOLS,
        limits: ToolLimits | None = None,
        clock: Clock,
    ) -> None:
        self._models = models
        self._messages = list(messages)
        self._asked = len(self._messages) - 1
        self._lang = lang
        self._model = model
        self._turn = turn
        self._tools = tools
        self._limits = limits or ToolLimits()
        self._clock = clock
        self._text: list[str] = []
        """What the model has written since the last tool."""
        self.forgot = False
        """Whether it was asked without what was said before, because it refused all of it."""

    def exchange(self) -> list[Said]:
        """What was said, for the memory: the utterance, the tools that were called, and the answer as far as it came.

        Nothing, when nothing came of it. It ends with the model, also where that failed after its tools were called:
        user and model take turns, and servers refuse a whole conversation in which they do not.
        """
        said, text = self._messages[self._asked :], "".join(self._text).strip()
        return [*said, {"role": "assistant", "content": text or "…"}] if text or len(said) > 1 else []

    async def sentences(self) -> AsyncGenerator[AnswerSentence, None]:
        """The answer, each sentence as soon as it is complete. Raises `ChatError` after what was complete."""
        latest, times = "", 0
        for number in range(self._limits.rounds + 1):
            offered: Sequence[ToolDefinition] = ()
            if self._turn is not None and number < self._limits.rounds:
                offered = self._tools.offered(self._turn.session, self._lang)
            calls: list[ToolCall] = []
            silent = True
            async with aclosing(self._round(offered, calls)) as written:
                async for sentence in written:
                    silent = False
                    times = times + 1 if sentence.text == latest else 1
                    latest = sentence.text
                    if times > _REPEATED:
                        raise self._failure("too_long", "the model says the same again and again")
                    yield sentence
            if not calls or number == self._limits.rounds:
                if silent:
                    raise self._failure("silent", "the model had nothing to say")
                return
            await self._call(calls, [tool.name for tool in offered])

    async def _round(
        self, offered: Sequence[ToolDefinition], calls: list[ToolCall]
    ) -> AsyncGenerator[AnswerSentence, None]:
        """What the model says to the messages so far; the tools it wants called are put into `calls`."""
        cutter = SentenceCutter(self._lang)
        held = ""
        """A question: whether it is the last thing said is known when something follows, or nothing does."""
        try:
            async with aclosing(self._pieces(offered)) as pieces:
                async for piece in pieces:
                    if isinstance(piece, ToolCall):
                        calls.append(piece)
                        continue
                    self._text.append(piece)
                    for sentence in cutter.add(piece):
                        if held:
                            yield AnswerSentence(held)
                        held = _spoken(sentence)
                        if held and not _is_question(held):
                            yield AnswerSentence(held)
                            held = ""
                    if held and cutter.pending:
                        yield AnswerSentence(held)
                        held = ""
        except ChatError:
            if held:
                yield AnswerSentence(held)
            raise
        rest = _spoken(cutter.rest())
        for text in filter(None, (held, rest)):
            yield AnswerSentence(text, asks=_is_question(text) and not calls and text is (rest or held))

    async def _pieces(self, offered: Sequence[ToolDefinition]) -> AsyncGenerator[str | ToolCall, None]:
        """What the models answer; where what was said before may be too much for them, to what is said now."""
        shortened = False
        while True:
            begun = False
            try:
                async with aclosing(self._models.stream(self._messages, offered, self._model, self._note)) as pieces:
                    async for piece in pieces:
                        begun, self.forgot = True, self.forgot or shortened
                        yield piece
                return
            except ChatError as error:
                if begun or self._asked == 1 or not error.may_be_about_length:
                    raise
            del self._messages[1 : self._asked]
            self._asked, shortened = 1, True

    async def _call(self, wanted: Sequence[ToolCall], offered: Names) -> None:
        """Call the tools that the model wants, one after the other, and add what came of it."""
        text = "".join(self._text).strip()
        described: list[Said] = []
        results: list[Said] = []
        calls = [ToolCall(call.id, offered_name(call.name, offered), call.arguments) for call in wanted]
        for number, call in enumerate(calls):
            arguments = _object(call.arguments)
            result = await self._result(call, arguments, offered, number)
            # Servers read the arguments again, and refuse the whole conversation where they are no JSON.
            repeated = {"name": call.name, "arguments": call.arguments if arguments is not None else "{}"}
            described.append({"id": call.id, "type": "function", "function": repeated})
            results.append({"role": "tool", "tool_call_id": call.id, "content": result})
        self._messages += [{"role": "assistant", "content": text or None, "tool_calls": described}, *results]
        self._text.clear()

    async def _result(self, call: ToolCall, arguments: Mapping[str, Any] | None, offered: Names, number: int) -> str:
        began = self._clock.monotonic()
        try:
            result = await self._done(call, arguments, offered, number)
        except ToolError as error:
            result = f"Error: {str(error)[:1000]}"
        else:
            left = len(result) - self._limits.characters
            if left > 0:
                result = f"{result[: self._limits.characters]} [{left} more characters are left out]"
        seconds = self._clock.monotonic() - began
        self._note(f"tool {call.name}({call.arguments[:200]}) → {result[:200]}  {seconds:.3f} s")
        return result

    async def _done(self, call: ToolCall, arguments: Mapping[str, Any] | None, offered: Names, number: int) -> str:
        if self._turn is None or call.name not in offered:
            raise ToolError(f"there is no tool {call.name}")
        if number >= self._limits.calls:
            raise ToolError("too many tools at once")
        if arguments is None:
            raise ToolError("the arguments are not a JSON object")
        try:
            async with self._clock.timeout(self._limits.seconds):
                return str(await self._tools.call(call.name, arguments, self._turn))
        except TimeoutError:
            raise ToolError(f"{call.name} took more than {self._limits.seconds:g} s") from None

    def _failure(self, trouble: Trouble, text: str) -> ChatError:
        self._note(f"{trouble}: {text}")
        return ChatError(trouble, text)

    def _note(self, text: str) -> None:
        if self._turn is not None:
            self._turn.note(text)


def _object(text: str) -> Mapping[str, Any] | None:
    """What a model wrote as arguments, if it is a JSON object; some write it as a JSON text that holds one."""
    try:
        found = msgspec.json.decode(text, type=dict[str, Any] | str)
        return msgspec.json.decode(found, type=dict[str, Any]) if isinstance(found, str) else found
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None


def _spoken(sentence: str) -> str:
    """A sentence without markup and control characters, also without such markup as began in another sentence; empty
    where no letter or number is left.
    """
    plain = plain_text(_CONTROL.sub("", sentence), is_part=True).replace("`", "").strip("*_~ ")
    return plain if any(map(str.isalnum, plain)) else ""


def _is_question(text: str) -> bool:
    return text.rstrip("\"'”’»)」").endswith(("?", "？", "؟"))  # noqa: RUF001 - marks of many scripts
