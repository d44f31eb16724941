"""A pipeline plugin that claims what it can do itself: `python examples/parrot.py`."""

import asyncio
from collections.abc import Sequence

from hark.plugins import Declined, Match, PipelinePlugin, Session, Turn, handles
from hark.testing import Assistant


class Parrot(PipelinePlugin):
    id = "parrot"

    def match(self, utterances: Sequence[str], lang: str, session: Session) -> Match | Declined:
        for text in utterances:
            verb, _, rest = text.partition(" ")
            if verb == "say" and rest:
                return self.claim("say", lang=lang, utterance=text, slots={"text": rest})
        return Declined("it does not begin with 'say'")

    @handles("say")
    def say(self, turn: Turn) -> str:
        return turn.slots["text"]


async def main() -> None:
    async with Assistant(Parrot()) as assistant:
        print(*await assistant.hears("say hello"))
        await assistant.hears("sing")
        print(assistant.why())


if __name__ == "__main__":
    asyncio.run(main())
