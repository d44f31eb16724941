"""eSpeak NG: a hundred languages in ten megabytes, with a robotic voice (extra `espeak-ng`; GPL-3)."""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from dataclasses import dataclass
from threading import Lock
from typing import Annotated, Any, Final

from msgspec import Meta

from hark import hints
from hark.builtin.engines.extras import need, release
from hark.model import Audio
from hark.plugins.engines import TTSEngine, Unavailable

_SYNCHRONOUS: Final = 2
_KEEP_RUNNING: Final = 0x8000
_CHARACTERS: Final = 1
_UTF_8: Final = 1
_RATE, _PITCH = 1, 3

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)

_LIBRARY = Lock()
"""The library has one state for the whole process."""


class _Voice(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("languages", ctypes.c_void_p),
        ("identifier", ctypes.c_char_p),
        ("gender", ctypes.c_ubyte),
        ("age", ctypes.c_ubyte),
        ("variant", ctypes.c_ubyte),
        ("xx1", ctypes.c_ubyte),
        ("score", ctypes.c_int),
        ("spare", ctypes.c_void_p),
    )


class EspeakNG(TTSEngine):
    """Speaks nearly any language, robotically; the last resort where no other voice has the language."""

    id = "espeak-ng"

    @dataclass(frozen=True)
    class Settings:
        """What a deployer may set."""

        rate: Annotated[int, Meta(ge=80, le=450)] = 165
        """Words a minute."""
        pitch: Annotated[int, Meta(ge=0, le=100)] = 50
        """How high it speaks."""

    settings: Settings

    def load(self) -> None:
        loader = need("espeakng_loader", "espeak-ng")
        try:
            self._library: Any = ctypes.CDLL(loader.get_library_path())
            data = loader.get_data_path()
        except (OSError, RuntimeError) as error:
            raise Unavailable(f"its library cannot be loaded: {error}", hints.install_extra("espeak-ng")) from error
        self._library.espeak_ListVoices.restype = ctypes.POINTER(ctypes.POINTER(_Voice))
        with _LIBRARY:
            self._sample_rate: int = self._library.espeak_Initialize(_SYNCHRONOUS, 0, data.encode(), _KEEP_RUNNING)
            if self._sample_rate <= 0:
                raise Unavailable("its library does not initialise", hints.install("--force-reinstall espeakng-loader"))
            self._by_lang = self._list_voices()
        self.langs = tuple(self._by_lang)

    def warm_up(self) -> None:
        self.synthesize("Ready.", "en")

    def synthesize(self, text: str, lang: str, voice: str | None = None) -> Audio:
        pieces: list[bytes] = []

        def collect(samples: Any, count: int, _events: Any) -> int:
            if samples and count > 0:
                pieces.append(ctypes.string_at(samples, 2 * count))
            return 0

        callback = _Callback(collect)
        words = text.replace("\0", " ").encode("utf-8", "replace") + b"\0"
        name = voice or next(iter(self.voices(lang)), lang)
        library = self._library
        with _LIBRARY:
            if library.espeak_SetVoiceByName(self._by_lang.get(name.lower(), name).encode()) != 0:
                raise ValueError(f"it has no voice {name!r}")
            library.espeak_SetParameter(_RATE, self.settings.rate, 0)
            library.espeak_SetParameter(_PITCH, self.settings.pitch, 0)
            library.espeak_SetSynthCallback(callback)
            library.espeak_Synth(words, len(words), 0, _CHARACTERS, 0, _UTF_8, None, None)
            library.espeak_Synchronize()
            # The callback is freed when this function returns.
            library.espeak_SetSynthCallback(_Callback(0))
        return Audio(b"".join(pieces), self._sample_rate)

    def voices(self, lang: str) -> Collection[str]:
        """Voices are named by their tags, that of `lang` first. Variants such as "en-us+f3" work as well."""
        tag, primary = lang.lower(), lang.lower().partition("-")[0]
        near = [known for known in self._by_lang if known.partition("-")[0] == primary]
        near.sort(key=lambda known: (known != tag, known != primary))
        return tuple(near)

    def about(self) -> str:
        return f"{release('espeakng-loader')}, {len(self._by_lang)} languages and regions"

    def _list_voices(self) -> dict[str, str]:
        """The name of a voice for each language tag."""
        voices, place = self._library.espeak_ListVoices(None), 0
        found: dict[str, str] = {}
        while voices[place]:
            languages = voices[place].contents.languages
            # A priority byte, then the tag; the first is the voice's own language.
            tag = ctypes.string_at(languages + 1).decode("ascii", "replace") if languages else ""
            if tag and tag != "variant":
                found.setdefault(tag.lower(), voices[place].contents.name.decode("utf-8", "replace"))
            place += 1
        return found
