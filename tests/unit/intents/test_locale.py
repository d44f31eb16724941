"""Locales: whose file counts, in which language, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from locale_folder import write

from hark.intents.locale import Locale, MalformedResource, MissingResource, Role


def test_the_users_file_shadows_the_skills_and_that_the_assistants(tmp_path: Path) -> None:
    core = write(tmp_path / "core", {"en-US/a.voc": "core", "en-US/b.voc": "core", "en-US/c.voc": "core"})
    skill = write(tmp_path / "skill", {"en-US/a.voc": "skill\nmore", "en-US/deep/b.voc": "skill"})
    user = write(tmp_path / "user", {"en-us/a.voc": "user"})
    language = Locale(skill, user=user, core=core).language("en-US")
    assert [language.samples(Role.VOCABULARY, name) for name in "abc"] == [("user",), ("skill",), ("core",)]


def test_languages_are_those_of_skill_and_user(tmp_path: Path) -> None:
    write(tmp_path, {"core/fr-FR/a.voc": "a", "skill/de-DE/a.voc": "a", "user/pt-br/a.voc": "a"})
    locale = Locale(tmp_path / "skill", user=tmp_path / "user", core=tmp_path / "core")
    assert set(locale.languages) == {"de-DE", "pt-BR"}


def test_the_exact_language_in_any_folder_comes_before_a_near_one(tmp_path: Path) -> None:
    write(tmp_path, {"user/en-GB/a.dialog": "near", "skill/en-US/a.dialog": "exact"})
    locale = Locale(tmp_path / "skill", user=tmp_path / "user")
    assert locale.find(Role.DIALOG, "a", "en-us").tag == "en-US"
    assert locale.find(Role.DIALOG, "a", "en-AU").tag == "en-GB"


def test_each_file_comes_from_the_nearest_language_that_has_it(tmp_path: Path) -> None:
    write(tmp_path, {"en-GB/a.dialog": "a", "en-US/b.dialog": "b"})
    locale = Locale(tmp_path)
    assert [locale.find(Role.DIALOG, name, "en-AU").tag for name in "ab"] == ["en-GB", "en-US"]


def test_near_languages_can_be_switched_off(tmp_path: Path) -> None:
    write(tmp_path, {"en-GB/a.dialog": "a"})
    with pytest.raises(MissingResource, match=r"no a\.dialog for en-US; there is one in: en-GB"):
        Locale(tmp_path, near=False).find(Role.DIALOG, "a", "en-US")


def test_what_is_nowhere_is_missing_with_the_places_that_were_looked_in(tmp_path: Path) -> None:
    with pytest.raises(MissingResource, match=f"no a.dialog for en-US; looked in {tmp_path}"):
        Locale(tmp_path).find(Role.DIALOG, "a", "en-US")
    with pytest.raises(MissingResource, match="the skill has none"):
        Locale().find(Role.DIALOG, "a", "en-US")


def test_a_locale_stays_as_it_was_until_it_is_loaded_again(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/a.voc": "before"})
    locale = Locale(tmp_path)
    assert locale.language("en-US").samples(Role.VOCABULARY, "a") == ("before",)
    write(tmp_path, {"en-US/a.voc": "after", "de-DE/b.voc": "neu"})
    assert locale.language("en-US").samples(Role.VOCABULARY, "a") == ("before",)
    assert locale.languages == ("en-US",)
    again = locale.reload()
    assert again.language("en-US").samples(Role.VOCABULARY, "a") == ("after",)
    assert set(again.languages) == {"en-US", "de-DE"}


def test_references_are_put_in_as_groups_and_stand_for_the_same_sentences(tmp_path: Path) -> None:
    files = {"ask.intent": "<polite> paint it <shade>\n<one> more", "polite.voc": "please\n[could|would] you"}
    more = {"shade.voc": "<colour>\n(light|dark) <colour>", "colour.voc": "red\nblue", "one.voc": "once"}
    write(tmp_path / "en-US", {**files, **more})
    language = Locale(tmp_path).language("en-US")
    inlined = language.inlined(Role.INTENT, "ask")
    assert inlined == ("(please|[could|would] you) paint it ((red|blue)|(light|dark) (red|blue))", "once more")
    write(tmp_path / "de-DE", {"ask.intent": "\n".join(inlined)})
    assert Locale(tmp_path).language("de-DE").samples(Role.INTENT, "ask") == language.samples(Role.INTENT, "ask")
    assert len(language.samples(Role.INTENT, "ask")) == 4 * 6 + 1


def test_a_users_vocabulary_changes_whatever_refers_to_it(tmp_path: Path) -> None:
    write(tmp_path, {"skill/en-US/ask.intent": "<polite> go", "skill/en-US/polite.voc": "please"})
    write(tmp_path, {"user/en-US/polite.voc": "kindly"})
    locale = Locale(tmp_path / "skill", user=tmp_path / "user")
    assert locale.language("en-US").samples(Role.INTENT, "ask") == ("kindly go",)


@pytest.mark.parametrize(
    ("files", "place", "told"),
    [
        ({"a.intent": "fine\n  turn (on"}, "a.intent:2:8:", "never closed"),
        ({"a.intent": "go <there>"}, "a.intent:1:4:", "not known here"),
        ({"a.intent": "go <Bad>"}, "a.intent:1:4:", "<Bad>"),
        ({"a.intent": "{city}"}, "a.intent:1:1:", "no word beside the slots"),
        ({"a.voc": "the {slot}"}, "a.voc:1:5:", "slot"),
        ({"a.entity": "the {slot}"}, "a.entity:1:5:", "slot"),
        ({"a.blacklist": "the {slot}"}, "a.blacklist:1:5:", "slot"),
        ({"a.required": "the {slot}"}, "a.required:1:5:", "slot"),
        ({"a.voc": "<b>", "b.voc": "<a>"}, "a.voc:1:1:", "needs itself"),
        ({"b.voc": "fine\n(oops", "a.intent": "<b> x"}, "b.voc:2:1:", "never closed"),
        ({"a.dialog": "yes|no"}, "a.dialog:1:4:", "outside"),
        ({"a.dialog": "{a} and {b}\n\nonly {b}"}, "a.dialog:3:1:", r"has \{b\}, the first one has \{a\}, \{b\}"),
        ({"a.dialog": "hello\nhello {you}"}, "a.dialog:2:1:", "has {you}, the first one has no slots"),
        ({"a.voc": "# nothing\n\n"}, "a.voc:", "empty"),
        ({"a.prompt": " \n\t"}, "a.prompt:", "empty"),
        ({"a.intent": " ".join(["(a|b)"] * 40)}, "a.intent:1:1:", "more than 50000000"),
    ],
)
def test_a_mistake_is_reported_with_file_line_and_column(
    tmp_path: Path, files: dict[str, str], place: str, told: str
) -> None:
    write(tmp_path / "en-US", files)
    with pytest.raises(MalformedResource, match=told) as caught:
        Locale(tmp_path).language("en-US").check()
    assert f"en-US/{place}" in str(caught.value)


def test_dialogs_may_have_forms_that_input_may_not(tmp_path: Path) -> None:
    write(
        tmp_path / "en-US", {"a.dialog": "{day}", "b.dialog": "{speed} {unit}, it's OK!", "c.dialog": "x [{n}]\nx {n}"}
    )
    Locale(tmp_path).language("en-US").check()


def test_the_phrases_of_a_vocabulary_are_words_in_the_nearest_language(tmp_path: Path) -> None:
    write(tmp_path, {"en-US/yes.voc": "Yes!\nthat's (right|it)", "de-DE/yes.voc": "ja"})
    locale = Locale(tmp_path)
    assert locale.phrases("yes", "en-GB") == {("yes",), ("that", "is", "right"), ("that", "is", "it")}
    with pytest.raises(MissingResource):
        locale.phrases("no", "en-US")
