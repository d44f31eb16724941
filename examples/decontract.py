"""A transformer, in use: `python examples/decontract.py`."""

import asyncio

from hark.plugins import Ctx, UtteranceTransformer
from hark.skills import Skill, intent
from hark.testing import Assistant


class Decontract(UtteranceTransformer):
    id = "decontract"
    priority = 20

    def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
        return [utterance.replace("what's", "what is") for utterance in utterances]


class Answers(Skill):
    id = "answers.skill"

    @intent("what is the answer")
    def answer(self, _turn: object) -> str:
        return "Forty-two."


async def main() -> None:
    async with Assistant(Decontract(), Answers()) as assistant:
        print(*await assistant.hears("what's the answer"))
        print(assistant.why())


if __name__ == "__main__":
    asyncio.run(main())
