"""Wake words: what is found by which name, and how sure it has to be."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from hark.builtin.engines.extras import need
from hark.builtin.engines.microwakeword import MicroWakeWord
from hark.builtin.engines.pocketsphinx.kws import KeywordSpotter
from hark.plugins.engines import Unavailable, WakeDetector, WakeWord
from voice_samples import spoken


def micro(**settings: str) -> MicroWakeWord:
    engine = MicroWakeWord()
    engine.settings = MicroWakeWord.Settings(**settings)
    engine.load()
    return engine


def heard(detector: WakeDetector, text: str) -> int:
    samples = spoken(text, "hibari", "en-US", 1.0, 1.0).samples
    return sum(detector.hears(samples[at : at + 2_048]) for at in range(0, len(samples), 2_048))


@pytest.mark.parametrize("phrase", ["hey jarvis", "Hey Jarvis", "hey_jarvis"])
def test_a_model_is_found_by_its_phrase(phrase: str) -> None:
    assert heard(micro().detector(WakeWord("it", phrase)), "hey jarvis") == 1


def test_a_model_is_found_by_its_name_whatever_people_call_it() -> None:
    detector = micro().detector(WakeWord("it", "butler", model="hey_jarvis"))
    assert heard(detector, "hey jarvis") == 1
    assert heard(detector, "good morning everybody") == 0


def test_a_model_of_ones_own_is_found_in_its_folder_or_by_its_file(tmp_path: Path) -> None:
    inside = Path(need("pymicro_wakeword", "microwakeword").__file__).parent / "models"
    own = tmp_path / "butler.json"
    own.write_text((inside / "hey_jarvis.json").read_text(encoding="utf-8").replace("Hey Jarvis", "Dear Butler"))
    shutil.copy(inside / "hey_jarvis.tflite", tmp_path)
    engine = micro(models=str(tmp_path))
    assert "dear butler" in engine.about()
    for word in (WakeWord("it", "dear butler"), WakeWord("it", "x", "butler"), WakeWord("it", "x", str(own))):
        assert heard(engine.detector(word), "hey jarvis") == 1


def test_a_folder_with_a_malformed_description_is_reported(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(Unavailable, match="not a model description"):
        micro(models=str(tmp_path))


def test_how_sure_it_has_to_be_can_be_set() -> None:
    assert heard(micro().detector(WakeWord("it", "hey jarvis", threshold=1.0)), "hey jarvis") == 0


def test_an_unknown_phrase_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(Unavailable, match="no model for 'hello house'") as refused:
        micro().detector(WakeWord("it", "hello house"))
    assert "Okay Nabu" in refused.value.remedy


def test_any_phrase_can_be_spotted_even_with_words_in_no_dictionary() -> None:
    engine = KeywordSpotter()
    engine.settings = KeywordSpotter.Settings()
    engine.load()
    assert heard(engine.detector(WakeWord("it", "good morning computer")), "good morning computer") == 1
    assert heard(engine.detector(WakeWord("it", "good morning computer")), "we had fish for dinner") == 0
    assert heard(engine.detector(WakeWord("it", "hello roombatron", threshold=0.2)), "hello roombatron") == 1
    with pytest.raises(Unavailable, match="'größe' is unknown"):
        engine.detector(WakeWord("it", "hallo größe"))
