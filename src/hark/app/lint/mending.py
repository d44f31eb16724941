"""How malformed templates are mended."""

from __future__ import annotations

from typing import Final

from hark.intents.grammar import MAX_SENTENCES, Malformed

MENDS: Final = {
    Malformed.UNBALANCED: "add the bracket that is missing, or remove this one: brackets cannot be spoken",
    Malformed.EMPTY_GROUP: "write branches into it, or remove it",
    Malformed.EMPTY_SAMPLE: "let something remain that cannot be left out",
    Malformed.SLOT_ONLY: "add a word that is always said",
    Malformed.ADJACENT_SLOTS: "put a word between them that is always said",
    Malformed.REPEATED_SLOT: "give the second one a name of its own",
    Malformed.INVALID_SLOT: "use a to z, 0 to 9 and '_', begin with a letter, and leave no space within the braces",
    Malformed.SLOT_NOT_ALLOWED: "write the words themselves; slots are for .intent and .dialog",
    Malformed.PIPE_OUTSIDE_GROUP: "write (a|b), or two lines",
    Malformed.INVALID_REFERENCE: "use a to z, 0 to 9 and '_', and begin with a letter",
    Malformed.UNDEFINED_VOCABULARY: "add the .voc file to this language, or correct the name",
    Malformed.CYCLIC_VOCABULARY: "take one of the references out",
    Malformed.EMPTY_VOCABULARY: "write members into it",
    Malformed.TOO_MANY_SENTENCES: f"split it into several lines; the limit is {MAX_SENTENCES} sentences",
}
