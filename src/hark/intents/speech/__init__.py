"""Text as it is to be spoken: without markup, with numbers, dates, units and symbols written out.

The words of a language are in `languages/<code>.toml`, which a translator can edit; numbers in words need the extra
`hark-voice[speakable]`, and stay figures without it.
"""

from hark.intents.speech.markup import plain_text
from hark.intents.speech.spoken import speakable
from hark.intents.speech.words import SPOKEN_LANGUAGES, can_spell_numbers, signs_in_addresses

__all__ = ["SPOKEN_LANGUAGES", "can_spell_numbers", "plain_text", "signs_in_addresses", "speakable"]
