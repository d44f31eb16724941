"""The words of the synthetic intents, and words of sentences that mean none of them."""

from __future__ import annotations

from typing import Final


def _listed(text: str) -> list[str]:
    return text.split("|")


VERBS: Final = _listed(
    "turn on|turn off|dim|open|close|start|stop|pause|resume|check|find|show me|read|update|cancel|book|order|"
    "schedule|move|rename|share|print|send|save|delete|lock|unlock|charge|clean|repair|test|reset|mute|watch|"
    "compare|rate|translate|archive|count|measure"
)

THINGS: Final = _listed(
    "desk lamp|garage door|washing machine|shopping list|morning alarm|front camera|heating plan|dinner table|"
    "train ticket|bank account|weather report|photo album|music playlist|kitchen timer|water bill|garden hose|"
    "coffee maker|work calendar|news feed|phone contract|window blind|air filter|parking spot|library card|"
    "fitness goal|travel diary|power meter|robot vacuum|guest network|recipe book"
)

FRAMES: Final = (
    "{verb} the {thing}",
    "please {verb} the {thing}",
    "can you {verb} my {thing}",
    "{verb} the {thing} in the {{room}}",
    "{verb} the {thing} for {{person}}",
    "i want to {verb} the {thing}",
    "could you {verb} the {thing} at {{time}}",
    "{verb} my {thing} on {{day}}",
    "would you {verb} the {thing} of {{person}} on {{day}}",
    "in the {{room}} {verb} the {thing}",
    "it is time to {verb} the {thing} again",
    "set things up to {verb} the {thing} at {{time}} on {{day}}",
    "{verb} that {thing} called {{name}}",
    "hey {verb} my old {thing}",
    "let us {verb} the {thing} from {{name}} now",
    "i need somebody to {verb} the {thing} for {{person}} in the {{room}}",
)

VALUES: Final = {
    "room": _listed("kitchen|living room|bedroom|cellar|attic|hall|bathroom|office|nursery|terrace"),
    "person": _listed("anna|my brother|doctor weber|grandma|the neighbours|oliver|mister jones|the children"),
    "time": _listed("seven|noon|half past nine|six thirty|midnight|quarter to four|eleven"),
    "day": _listed("monday|tuesday|wednesday|friday|sunday|the first of may|next weekend"),
    "name": _listed("blue moon|number four|summer house|old faithful|white rabbit|plan b"),
}
UNKNOWN: Final = ("winter garden", "aunt margaret", "a quarter past ten", "whit monday", "silver arrow")

PEOPLE: Final = _listed("my neighbour|the old captain|a famous painter|her cousin|nobody here|the whole village")
DEEDS: Final = _listed("bought|forgot|dreamt about|wrote|painted|lost|sang about|buried|inherited|admired")
OBJECTS: Final = _listed("a bicycle|two silver spoons|the longest novel|an oak tree|some honey|a violin|seven geese")
CIRCUMSTANCES: Final = _listed("yesterday|during the storm|without saying why|last summer|as a child|by accident")
STRANGE_THINGS: Final = _listed("bicycle|violin|oak tree|lighthouse|passport photo|chess board|snow shovel|honey jar")
STRANGE_VERBS: Final = _listed("paint|bury|admire|inherit|whistle at|borrow|weigh|polish")
