"""What is edited while an assistant runs is in service at the next turn; what is broken leaves the old one."""

from __future__ import annotations

import asyncio
import gc
import re
import sys
import threading
import weakref
from pathlib import Path

import pytest

from flow.dev_rig import WEATHER, Desk
from flow.stage import MakeAssistant
from hark.app.reload.changes import Reloaded, ReloadRefused, RestartNeeded, SettingsApplied, Unloaded, UnreadableFile
from hark.app.reload.module_versions import current_modules, install_modules
from hark.app.reload.watch import FileWatcher
from hark.bus.delivery import LocalSubscription
from hark.hosting import PluginFile
from hark.model import Message
from hark.plugins import Ctx, UtteranceTransformer
from hark.skills import Skill
from hark.spec import topics
from hark.testing import Assistant, settle
from hark.testing.assistant import Hearing

pytestmark = pytest.mark.one_process  # what is reloaded is of this process, and each step of it is looked at

HOW = "how is the weather"


@pytest.fixture
def desk(tmp_path: Path, assistant: MakeAssistant) -> Desk:
    """A desk with a skill on it."""
    made = Desk(tmp_path, assistant)
    made.save("weather.py", WEATHER)
    made.set(["weather.py"])
    return made


async def test_an_edited_skill_answers_the_next_turn_in_its_new_words(desk: Desk) -> None:
    async with desk.open() as hark:
        assert await hark.hears(HOW) == ["Sunny."]
        [change] = await desk.edit("weather.py", lambda text: text.replace("Sunny", "Rainy"))
        assert isinstance(change, Reloaded)
        assert await hark.hears(HOW) == ["Rainy."]
        assert re.fullmatch(r"reloaded weather\.skill \(1 intent\) in \d+ ms", desk.told[0])
        assert await desk.scan() == []


async def test_registrations_follow_the_edit(desk: Desk) -> None:
    async with desk.open() as hark:
        await desk.edit("weather.py", lambda text: text.replace(f'"{HOW}"', '"will it rain"'))
        assert await hark.hears("will it rain") == ["Sunny."]
        assert await hark.hears(HOW) == []
        assert hark.topics().count(topics.SKILL_DEREGISTER) == 1
        after = hark.topics()[hark.topics().index(topics.SKILL_DEREGISTER) :]
        assert topics.REGISTER_TEMPLATE in after


NO_START = "\n    async def start(self):\n        raise OSError('no net')\n"

BROKEN = {
    "a syntax error": (lambda text: text.replace("def now(self, turn)", "def now(self, turn"), ":8"),
    "an exception on import": (lambda text: text + "\nraise ValueError('no')\n", ":11"),
    "an exit on import": (lambda text: text + "\nraise SystemExit(3)\n", ":11"),
    "a missing module": (lambda text: "import nothing_of_the_kind\n" + text, ":1"),
    "a bad id": (lambda text: text.replace("weather.skill", "weather skill"), ":4"),
    "an intent that does not parse": (lambda text: text.replace(HOW, "how is (the weather"), ":7"),
    "a constructor with arguments": (lambda text: text + "\n    def __init__(self, city): ...\n", "weather.py"),
    "no class at all": (lambda _text: "\n", "weather.py"),
    "a class that lost its id": (lambda text: text.replace('id = "weather.skill"', ""), ":4"),
    "a start that fails": (
        lambda text: text + "\n    async def start(self):\n        raise OSError('no net')\n",
        ":12",
    ),
    "a start with an argument": (lambda text: text + "\n    async def start(self, more): ...\n", "weather.py"),
}


@pytest.mark.parametrize("what", BROKEN)
async def test_a_broken_edit_leaves_the_old_plugin_and_is_told_once(desk: Desk, what: str) -> None:
    breaking, place = BROKEN[what]
    async with desk.open() as hark:
        changes = await desk.edit("weather.py", breaking)
        assert all(isinstance(change, ReloadRefused) for change in changes)
        assert len(desk.told) == 1
        assert desk.told[0].startswith("weather.skill not reloaded: ")
        assert desk.told[0].endswith("the old version stays in service")
        assert f"{desk.folder / 'weather.py'}{place}" in desk.told[0] or place in desk.told[0]
        assert await hark.hears(HOW) == ["Sunny."]
        assert await desk.scan() == []
        desk.save("weather.py", WEATHER.replace("Sunny", "Mended"))
        await desk.scan()
        assert await hark.hears(HOW) == ["Mended."]
        assert hark.runtime.refusals == []


async def test_a_wrong_signature_leaves_the_old_transformer(desk: Desk) -> None:
    source = """
from hark.plugins import DialogTransformer

class Loud(DialogTransformer):
    id = "loud"
    def transform(self, text, ctx):
        return text.upper()
"""
    desk.save("loud.py", source)
    desk.set(["weather.py", "loud.py"])
    async with desk.open() as hark:
        await desk.edit("loud.py", lambda text: text.replace("text, ctx)", "text)"))
        assert "write: def transform(self, text, ctx)" in desk.told[0]
        assert await hark.hears(HOW) == ["SUNNY."]
        await desk.edit("loud.py", lambda _text: source.replace("upper", "lower"))
        assert await hark.hears(HOW) == ["sunny."]
        assert desk.told[1].startswith("reloaded loud (dialog transformer) in ")


async def test_edits_within_one_second_and_of_one_size_are_told_apart(desk: Desk) -> None:
    async with desk.open() as hark:
        for word in ("Rainy", "Foggy", "Windy"):
            desk.save("weather.py", WEATHER.replace("Sunny", word))
            await desk.scan()
            assert await hark.hears(HOW) == [f"{word}."]


async def test_many_quick_writes_make_one_reload(desk: Desk) -> None:
    async with desk.open() as hark:
        for number in range(10):
            desk.save("weather.py", WEATHER.replace("Sunny", f"Number {number}"))
            assert await desk.dev.scan() == []
        assert len(await desk.scan(1)) == 1
        assert await hark.hears(HOW) == ["Number 9."]


async def test_an_editor_that_puts_a_new_file_in_place_makes_one_reload(desk: Desk) -> None:
    async with desk.open() as hark:
        path = desk.folder / "weather.py"
        path.rename(desk.folder / "weather.py~")
        await desk.dev.scan()  # the moment in which there is none
        desk.save(".weather.py.swp", WEATHER.replace("Sunny", "Rainy")).rename(path)
        assert len(await desk.scan()) == 1
        assert await hark.hears(HOW) == ["Rainy."]


async def test_a_file_that_is_gone_for_long_is_reported_and_the_plugin_stays(desk: Desk) -> None:
    async with desk.open() as hark:
        path = desk.folder / "weather.py"
        path.unlink()
        assert await desk.scan() == []
        [change] = await desk.scan_long()
        assert isinstance(change, ReloadRefused)
        assert "there is no such file" in desk.told[0]
        assert await hark.hears(HOW) == ["Sunny."]


async def test_a_changed_locale_folder_reloads_the_plugin_beside_it(desk: Desk) -> None:
    source = WEATHER.replace(
        'return "Sunny."',
        'return (__import__("pathlib").Path(__file__).parent / "locale/en-US/now.dialog").read_text()',
    )
    desk.save("weather.py", source)
    desk.save("locale/en-US/now.dialog", "Mild.")
    async with desk.open() as hark:
        desk.save("locale/en-US/now.dialog", "Hot.")
        [change] = await desk.scan()
        assert isinstance(change, Reloaded)
        assert await hark.hears(HOW) == ["Hot."]


PACKAGE = {
    "__init__.py": "from .skills import Rain, Sun\n",
    "words.py": 'RAIN = "Wet."\nSUN = "Dry."\n',
    "skills.py": """
from hark.skills import Skill, intent
from . import words

class Rain(Skill):
    id = "rain.skill"
    @intent("is it raining")
    def rain(self, turn) -> str:
        return words.RAIN

class Sun(Skill):
    id = "sun.skill"
    @intent("is it sunny")
    def sun(self, turn) -> str:
        return words.SUN
""",
}


@pytest.fixture
def package(desk: Desk) -> Desk:
    """A desk with a package of two skills on it."""
    for name, text in PACKAGE.items():
        desk.save(f"sky/{name}", text)
    desk.set(["sky"])
    return desk


async def test_any_file_of_a_package_reloads_all_plugins_in_it(package: Desk) -> None:
    async with package.open() as hark:
        changes = await package.edit("sky/words.py", lambda text: text.replace("Wet", "Pouring"))
        assert [str(change).split(" in ")[0] for change in changes] == [
            "reloaded rain.skill (1 intent)",
            "reloaded sun.skill (1 intent)",
        ]
        assert await hark.hears("is it raining") == ["Pouring."]
        assert await hark.hears("is it sunny") == ["Dry."]


async def test_a_package_with_one_broken_module_stays_as_it_was_as_a_whole(package: Desk) -> None:
    async with package.open() as hark:
        package.save("sky/words.py", 'RAIN = "New."\nSUN = = 2\n')
        await package.scan()
        assert package.told[0].startswith("rain.skill, sun.skill not reloaded: ")
        assert f"{package.folder / 'sky/words.py'}:2" in package.told[0]
        assert await hark.hears("is it raining") == ["Wet."]


async def test_a_plugin_that_does_not_start_takes_its_package_back_with_it(package: Desk) -> None:
    async with package.open() as hark:
        package.save("sky/words.py", 'RAIN = "New."\nSUN = "New."\n')
        await package.edit("sky/skills.py", lambda text: text + NO_START)
        assert len(package.told) == 1
        assert await hark.hears("is it raining") == ["Wet."]
        assert await hark.hears("is it sunny") == ["Dry."]
        assert sorted(entry.id for entry in hark.runtime.skills) == ["rain.skill", "sun.skill"]


async def test_another_id_takes_the_place_of_the_old_one(desk: Desk) -> None:
    async with desk.open() as hark:
        changes = await desk.edit("weather.py", lambda text: text.replace("weather.skill", "sky.skill"))
        assert [type(change) for change in changes] == [Reloaded, Unloaded]
        assert desk.told[0].startswith("loaded sky.skill (1 intent) in ")
        assert desk.told[1] == "unloaded weather.skill"
        assert await hark.hears(HOW) == ["Sunny."]
        assert list(hark.runtime.ids()) == ["template", "sky.skill"]


async def test_two_plugins_of_one_id_are_refused_together(desk: Desk) -> None:
    async with desk.open() as hark:
        await desk.edit("weather.py", lambda text: text + text.replace("class Weather", "class Other"))
        assert await hark.hears(HOW) == ["Sunny."]
        assert "reloaded weather.skill" in desk.told[0]
        assert "another plugin in the same package has the id 'weather.skill' as well" in desk.told[1]


async def test_the_place_of_a_plugin_among_the_others_is_kept(desk: Desk) -> None:
    desk.save("other.py", WEATHER.replace("weather", "other"))
    desk.set(["weather.py", "other.py"])
    async with desk.open() as hark:
        await desk.edit("weather.py", lambda text: text.replace("Sunny", "Rainy"))
        assert [entry.id for entry in hark.runtime.skills] == ["weather.skill", "other.skill"]


SLOW = """
import asyncio
from hark.skills import Skill, intent

class Slow(Skill):
    id = "slow.skill"

    @intent("take your time")
    async def take(self, turn) -> str:
        going = asyncio.Event()
        self.host.on("test.go", lambda _message: going.set())
        await going.wait()
        return "Old."
"""


async def go_on(hark: Assistant, hearing: Hearing) -> list[str]:
    """Let a slow handler come to its end; what it said."""
    hark.bus.emit(Message("test.go"))
    await hearing.over.wait()
    return hearing.spoken


async def test_a_turn_under_way_keeps_its_code_and_the_reload_waits_for_it(desk: Desk) -> None:
    desk.save("slow.py", SLOW)
    desk.set(["weather.py", "slow.py"])
    async with desk.open() as hark:
        hearing = hark.say("take your time")
        await settle()
        desk.save("slow.py", SLOW.replace("Old.", "New."))
        assert await desk.scan() == []
        assert desk.told == ["slow.skill will be reloaded when the open turn has ended"]
        # Others go on meanwhile, and are reloaded.
        await desk.edit("weather.py", lambda text: text.replace("Sunny", "Rainy"))
        assert await hark.hears(HOW) == ["Rainy."]
        assert await go_on(hark, hearing) == ["Old."]
        await desk.until(lambda: len(desk.told) == 3)
        assert desk.told[2].startswith("reloaded slow.skill (1 intent) in ")
        hearing = hark.say("take your time")
        await settle()
        assert await go_on(hark, hearing) == ["New."]


async def test_of_several_edits_during_a_turn_the_last_one_counts(desk: Desk) -> None:
    desk.save("slow.py", SLOW)
    desk.set(["slow.py"])
    async with desk.open() as hark:
        hearing = hark.say("take your time")
        await settle()
        for word in ("Newer.", "Newest."):
            desk.save("slow.py", SLOW.replace("Old.", word))
            await desk.scan()
        assert await go_on(hark, hearing) == ["Old."]
        await desk.until(lambda: len(desk.told) == 3)
        assert [line.split(" ")[0] for line in desk.told] == ["slow.skill", "slow.skill", "reloaded"]
        hearing = hark.say("take your time")
        await settle()
        assert await go_on(hark, hearing) == ["Newest."]


async def test_settings_and_code_that_wait_for_the_same_turn_both_come(desk: Desk) -> None:
    table = "    @dataclass(frozen=True)\n    class Settings:\n        end: str = '?'\n"
    slow = SLOW.replace("Slow(Skill):", f"Slow(Skill):\n{table}").replace('"Old."', '"Old" + self.settings.end')
    slow = f"from dataclasses import dataclass\n{slow}"
    desk.save("slow.py", slow)
    desk.set(["slow.py"])
    async with desk.open() as hark:
        hearing = hark.say("take your time")
        await settle()
        for end in ("!", "."):
            desk.set(["slow.py"], f'[plugins."slow.skill"]\nend = "{end}"\n')
            await desk.scan()
        await desk.edit("slow.py", lambda text: text.replace("Old", "New"))
        assert await go_on(hark, hearing) == ["Old?"]
        await desk.until(lambda: not desk.dev.busy)
        hearing = hark.say("take your time")
        await settle()
        assert await go_on(hark, hearing) == ["New."]


async def test_a_turn_that_comes_while_plugins_are_exchanged_waits_for_the_new_one(desk: Desk) -> None:
    async with desk.open() as hark:
        start = '    async def start(self) -> None:\n        self.host.emit("test.starting")\n'
        start += "        await self.host.clock.sleep(5)\n"
        desk.save("weather.py", f"{WEATHER.replace('Sunny', 'Rainy')}\n{start}")
        await desk.scan(1)
        reloading = asyncio.create_task(desk.scan(1))
        await desk.until(lambda: bool(hark.of("test.starting")))
        hearing = hark.say(HOW)
        await settle()
        assert hearing.markers == 0
        while not reloading.done():
            await hark.clock.advance(1)
        await hearing.over.wait()
        assert hearing.spoken == ["Rainy."]


async def test_every_turn_of_a_busy_assistant_ends_once_while_plugins_are_exchanged(desk: Desk) -> None:
    async with desk.open() as hark:
        for number in range(10):
            desk.save("weather.py", WEATHER.replace("Sunny", f"Number {number}"))
            hearings = [hark.say(HOW, session=f"s{number}-{one}") for one in range(20)]
            scanning = asyncio.create_task(desk.scan())
            hearings += [hark.say(HOW, session=f"t{number}-{one}") for one in range(20)]
            await asyncio.wait_for(asyncio.gather(*(hearing.over.wait() for hearing in hearings)), 30)
            await scanning
            old, new = f"Number {number - 1}." if number else "Sunny.", f"Number {number}."
            assert {answer for hearing in hearings for answer in hearing.spoken} <= {old, new}
            assert all(len(hearing.spoken) == 1 for hearing in hearings)


MATCHER = """
from hark.plugins import Match, PipelinePlugin
from hark.spec import topics

class Exact(PipelinePlugin):
    id = "exact"

    async def start(self) -> None:
        self.known = {}
        self.host.on(topics.REGISTER_TEMPLATE, self.register)

    def register(self, message) -> None:
        for sample in message.data["samples"]:
            self.known[sample] = message.data["skill_id"], message.data["intent_name"]

    def match(self, utterances, lang, session):
        found = self.known.get(utterances[0])
        return found and Match(*found, lang, utterances[0])
"""


async def test_a_reloaded_matcher_hears_every_registration_again(desk: Desk) -> None:
    desk.save("exact.py", MATCHER)
    desk.set(["weather.py", "exact.py"], pipeline=("exact",))
    async with desk.open() as hark:
        assert await hark.hears(HOW) == ["Sunny."]
        await desk.edit("exact.py", lambda text: text.replace("lang, session)", "lang, session, round)"))
        assert desk.told[0].startswith("reloaded exact (0 intents) in ")
        assert await hark.hears(HOW) == ["Sunny."]


GREEDY = """
import asyncio
from dataclasses import dataclass
from hark.skills import Skill, intent

class Greedy(Skill):
    id = "greedy.skill"

    @dataclass(frozen=True)
    class Settings:
        number: int = 0

    async def start(self) -> None:
        self.host.on("test.topic", self.heard)
        self.host.after(3600, self.heard)
        self.host.task(self.forever())

    def heard(self, *_): ...

    async def forever(self) -> None:
        await asyncio.Event().wait()

    @intent("count")
    def count(self, turn) -> str:
        return "NUMBER"
"""


def _weight(hark: Assistant) -> tuple[int, int, int]:
    gc.collect()
    subscriptions = sum(type(one) is LocalSubscription for one in gc.get_objects())
    # Workers belong to the house: how many there are depends on how fast they come back.
    threads = [thread for thread in threading.enumerate() if thread.name != "hark-worker"]
    return subscriptions, len(asyncio.all_tasks()), len(threads)


async def test_two_hundred_reloads_leave_nothing_behind(desk: Desk) -> None:
    desk.save("greedy.py", GREEDY)
    desk.set(["greedy.py"])
    async with desk.open() as hark:
        assert await hark.hears("count") == ["NUMBER"]
        await desk.edit("greedy.py", lambda _text: GREEDY.replace("NUMBER", "first"))
        before = _weight(hark)
        editions = []
        for number in range(200):
            module = type(hark.runtime.skills.get("greedy.skill").plugin).__module__
            editions.append(weakref.ref(sys.modules[module]))
            assert isinstance(await hark.runtime.reload("greedy.skill"), Reloaded), number
        await desk.edit("greedy.py", lambda _text: GREEDY.replace("NUMBER", "last"))
        assert await hark.hears("count") == ["last"]
        await settle()
        assert _weight(hark) == before
        assert hark.runtime.runner.threads.count <= 4
        gc.collect()
        assert [edition() for edition in editions] == [None] * 200


async def test_a_changed_table_reloads_its_plugin_with_the_new_settings(desk: Desk) -> None:
    desk.save("greedy.py", GREEDY.replace('"NUMBER"', "str(self.settings.number)"))
    desk.set(["greedy.py"], '[plugins."greedy.skill"]\nnumber = 3\n')
    async with desk.open() as hark:
        assert await hark.hears("count") == ["3"]
        desk.set(["greedy.py"], '[plugins."greedy.skill"]\nnumber = 4\n')
        await desk.scan()
        assert await hark.hears("count") == ["4"]
        desk.set(["greedy.py"], '[plugins."greedy.skill"]\nnumber = "many"\n')
        await desk.scan()
        assert await hark.hears("count") == ["4"]
        assert "its settings are wrong" in desk.told[1]
        assert len(desk.told) == 2


async def test_a_plugin_that_was_refused_for_its_settings_comes_with_better_ones(desk: Desk) -> None:
    desk.save("greedy.py", GREEDY)
    desk.set(["greedy.py"], '[plugins."greedy.skill"]\nnumber = "many"\n')
    async with desk.open() as hark:
        assert await hark.hears("count") == []
        desk.set(["greedy.py"], '[plugins."greedy.skill"]\nnumber = 4\n')
        await desk.scan()
        assert await hark.hears("count") == ["NUMBER"]
        assert hark.runtime.refusals == []


async def test_a_file_that_the_settings_name_anew_appears_and_one_they_name_no_more_goes(desk: Desk) -> None:
    desk.save("greedy.py", GREEDY)
    async with desk.open() as hark:
        desk.set(["greedy.py"])
        changes = await desk.scan()
        assert [type(change) for change in changes] == [Unloaded, Reloaded]
        assert await hark.hears(HOW) == []
        assert await hark.hears("count") == ["NUMBER"]
        await desk.edit("greedy.py", lambda text: text.replace("NUMBER", "two"))
        assert await hark.hears("count") == ["two"]
        desk.set(["greedy.py", "nowhere.py"])
        await desk.scan()
        assert "there is no such file" in desk.told[-1]
        assert [refusal.name for refusal in hark.runtime.refusals] == ["nowhere.py"]
        desk.save("nowhere.py", WEATHER)
        await desk.scan()
        assert await hark.hears(HOW) == ["Sunny."]
        assert hark.runtime.refusals == []


async def test_a_plugin_that_was_broken_from_the_start_comes_when_it_is_mended(desk: Desk) -> None:
    desk.save("weather.py", WEATHER.replace("Skill)", "Skill"))
    async with desk.open() as hark:
        assert len(hark.runtime.refusals) == 1
        desk.save("weather.py", WEATHER)
        await desk.scan()
        assert await hark.hears(HOW) == ["Sunny."]
        assert hark.runtime.refusals == []


async def test_malformed_settings_leave_the_old_ones(desk: Desk) -> None:
    async with desk.open() as hark:
        before = hark.runtime.settings
        desk.save("hark.toml", "[assistant\n")
        [change] = await desk.scan()
        assert isinstance(change, UnreadableFile)
        assert f"{desk.settings}:1" in desk.told[0]
        assert hark.runtime.settings is before
        assert await hark.hears(HOW) == ["Sunny."]


async def test_order_limits_and_denials_hold_from_the_next_turn_on(desk: Desk) -> None:
    loud = """
from hark.plugins import DialogTransformer

class Loud(DialogTransformer):
    id = "loud"
    def transform(self, text, ctx):
        return text.upper()

class Twice(DialogTransformer):
    id = "twice"
    def transform(self, text, ctx):
        return f"{text} {text.lower()}"
"""
    desk.save("loud.py", loud)
    files = ["weather.py", "loud.py"]
    desk.set(files)
    async with desk.open() as hark:
        assert await hark.hears(HOW) == ["SUNNY. sunny."]
        desk.set(files, '[transformers]\ndialog = ["twice", "loud"]\n[limits]\nmatch = 3.5\nfailures = 1\n')
        [change] = await desk.scan()
        assert change == SettingsApplied(("[transformers] dialog", "[limits] match", "[limits] failures"))
        assert await hark.hears(HOW) == ["SUNNY. SUNNY."]
        assert hark.runtime.pipeline.get("template").limit == 3.5
        desk.set(files, '[deny]\nskills = ["weather.skill"]\n')
        await desk.scan()
        assert await hark.hears(HOW) == []
        desk.set(files, '[deny]\ndialog_transformers = ["loud"]\n')
        await desk.scan()
        assert await hark.hears(HOW) == ["Sunny. sunny."]
        desk.set(files, pipeline=("strict",), more='[pipeline.strict]\nplugin = "nobody"\n')
        await desk.scan()
        assert await hark.hears(HOW) == []
        assert "names 'nobody' by [pipeline.strict], which is not loaded" in desk.told[-1]


async def test_what_cannot_change_while_it_runs_is_said_to_need_a_restart(desk: Desk) -> None:
    async with desk.open():
        desk.set(["weather.py"], "[trace]\nsize = 7\ndisk = false\n")
        assert await desk.scan() == [RestartNeeded(("[trace] size", "[trace] disk"))]
        assert desk.told == ["[trace] size, [trace] disk need a restart; they cannot change while the assistant runs"]


async def test_it_looks_by_itself_and_stops_with_the_assistant(desk: Desk) -> None:
    async with desk.open() as hark:
        async with desk.dev:
            desk.save("weather.py", WEATHER.replace("Sunny", "Rainy"))
            for _ in range(10_000):
                await hark.clock.advance(0.1)
                if desk.told:
                    break
            assert await hark.hears(HOW) == ["Rainy."]
        assert not [task for task in asyncio.all_tasks() if task.get_name() == "development reload"]


async def test_to_stop_while_a_reload_waits_for_a_turn_changes_nothing(desk: Desk) -> None:
    desk.save("slow.py", SLOW)
    desk.set(["slow.py"])
    async with desk.open() as hark:
        async with desk.dev:
            hearing = hark.say("take your time")
            await settle()
            desk.save("slow.py", SLOW.replace("Old.", "New."))
            await desk.scan()
            assert desk.dev.busy
        assert not desk.dev.busy
        assert await go_on(hark, hearing) == ["Old."]
        hearing = hark.say("take your time")
        await settle()
        assert await go_on(hark, hearing) == ["Old."]
        assert isinstance(await asyncio.wait_for(hark.runtime.reload("slow.skill"), 5), Reloaded)


async def test_a_reload_without_files_says_what_came_of_it(desk: Desk) -> None:
    async with desk.open() as hark:
        answer = await hark.runtime.reload("nobody.skill")
        assert isinstance(answer, ReloadRefused)
        assert "no plugin with this id is loaded" in str(answer)
        desk.save("weather.py", WEATHER.replace("Sunny", "Rainy"))
        answer = await hark.runtime.reload("weather.skill")
        assert isinstance(answer, Reloaded)
        assert (answer.plugin_id, answer.what, answer.new) == ("weather.skill", "1 intent", False)
        assert await hark.hears(HOW) == ["Rainy."]
        desk.save("weather.py", "def (:")
        answer = await hark.runtime.reload("weather.skill")
        assert isinstance(answer, ReloadRefused)
        assert answer.in_service == ("weather.skill",)
        assert await hark.hears(HOW) == ["Rainy."]


async def test_a_class_that_cannot_be_imported_cannot_be_reloaded(desk: Desk) -> None:
    class Local(Skill):
        id = "local.skill"

    async with desk.open(Local()) as hark:
        answer = await hark.runtime.reload("local.skill")
        assert isinstance(answer, ReloadRefused)
        assert "write it at the top of a module" in str(answer)


async def test_plugins_that_come_with_hark_can_be_reloaded_too(desk: Desk) -> None:
    before = current_modules("hark.builtin")
    try:
        async with desk.open() as hark:
            old = hark.runtime.pipeline.get("template")
            assert isinstance(await hark.runtime.reload("template"), Reloaded)
            new = hark.runtime.pipeline.get("template")
            assert new is not None
            assert old is not None
            assert type(new.plugin) is not type(old.plugin)
            assert await hark.hears(HOW) == ["Sunny."]
    finally:
        install_modules("hark.builtin", before)


async def test_an_import_that_does_not_end_is_given_up_and_leaves_the_old_plugin(desk: Desk) -> None:
    gate = threading.Event()
    desk.set(["weather.py"], "[limits]\nstart = 2\n")
    async with desk.open() as hark:
        sys.hark_test_gate = gate  # type: ignore[attr-defined]
        try:
            desk.save("weather.py", f"import sys\nsys.hark_test_gate.wait()\n{WEATHER}")
            await desk.scan(1)
            reloading = asyncio.create_task(desk.scan(1))
            while not reloading.done():
                await hark.clock.advance(1)
            assert "importing it takes longer than 2 s" in desk.told[0]
            assert await hark.hears(HOW) == ["Sunny."]
            assert [type(finder).__name__ for finder in sys.meta_path].count("_Finder") == 0
        finally:
            gate.set()
            del sys.hark_test_gate  # type: ignore[attr-defined]


async def test_an_exchange_that_has_begun_is_finished_though_it_is_cancelled(desk: Desk) -> None:
    async with desk.open() as hark:
        start = '    async def start(self) -> None:\n        self.host.emit("test.starting")\n'
        start += "        await self.host.clock.sleep(5)\n"
        desk.save("weather.py", f"{WEATHER.replace('Sunny', 'Rainy')}\n{start}")
        reloading = asyncio.create_task(hark.runtime.reload("weather.skill"))
        await desk.until(lambda: bool(hark.of("test.starting")))
        reloading.cancel()
        await hark.clock.advance(5)
        with pytest.raises(asyncio.CancelledError):
            await reloading
        assert await hark.hears(HOW) == ["Rainy."]


async def test_an_old_plugin_that_can_be_made_only_once_goes_on_itself(desk: Desk) -> None:
    once = """
    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        if self.made > 1:
            raise RuntimeError("only once")
"""
    desk.save("weather.py", WEATHER + once)
    async with desk.open() as hark:
        desk.save("weather.py", WEATHER + NO_START)
        await desk.scan()
        assert desk.told[0].startswith("weather.skill not reloaded: it did not start: OSError: no net")
        assert await hark.hears(HOW) == ["Sunny."]


async def test_an_old_plugin_that_does_not_start_again_is_told_as_lost(desk: Desk) -> None:
    once = """
    starts = 0

    async def start(self) -> None:
        type(self).starts += 1
        if self.starts > 1:
            raise RuntimeError("only once")
"""
    desk.save("weather.py", WEATHER + once)
    async with desk.open() as hark:
        desk.save("weather.py", WEATHER + NO_START)
        await desk.scan()
        assert len(desk.told) == 2
        assert "OSError: no net" in desk.told[0]
        assert "stays in service" not in desk.told[0]
        assert "skill weather.skill is not loaded: it did not start: RuntimeError: only once" in desk.told[1]
        assert [refusal.name for refusal in hark.runtime.refusals] == ["weather.skill"]
        desk.save("weather.py", WEATHER)
        await desk.scan()
        assert await hark.hears(HOW) == ["Sunny."]
        assert hark.runtime.refusals == []


async def test_a_fault_of_ours_does_not_end_the_watch(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk.open() as hark, desk.dev:
        with monkeypatch.context() as broken:
            broken.setattr(FileWatcher, "changed", lambda *_: 1 / 0)
            for _ in range(1_000):
                await hark.clock.advance(0.1)
                if "the files could not be scanned" in caplog.text:
                    break
        assert "the files could not be scanned" in caplog.text
        desk.save("weather.py", WEATHER.replace("Sunny", "Rainy"))
        for _ in range(10_000):
            await hark.clock.advance(0.1)
            if desk.told:
                break
        assert await hark.hears(HOW) == ["Rainy."]


async def test_what_a_save_while_it_was_being_loaded_left_is_noticed(desk: Desk) -> None:
    watcher = FileWatcher([PluginFile(desk.folder / "weather.py")], desk.settings)
    desk.save("weather.py", WEATHER.replace("Sunny", "Rainy"))
    seen = [watcher.changed(watcher.scan()) for _ in range(2)]
    assert [len(changed) for changed in seen] == [0, 1]


async def test_a_turn_that_is_about_to_be_dispatched_is_waited_for_as_well(desk: Desk) -> None:
    decide = asyncio.Event()

    class Pausing(UtteranceTransformer):
        id = "pausing"

        async def transform(self, utterances: list[str], ctx: Ctx) -> list[str]:
            await decide.wait()
            return utterances

    desk.save("slow.py", SLOW)
    desk.set(["slow.py"])
    async with desk.open(Pausing()) as hark:
        hearing = hark.say("take your time")
        await settle()
        desk.save("slow.py", SLOW.replace("Old.", "New."))
        reloading = asyncio.create_task(hark.runtime.reload("slow.skill"))
        await desk.until(lambda: hark.runtime.is_quiesced)
        decide.set()
        await desk.until(lambda: not hark.runtime.is_quiesced)
        assert not reloading.done()
        assert await go_on(hark, hearing) == ["Old."]
        assert isinstance(await reloading, Reloaded)


async def test_two_reloads_of_one_plugin_at_once_follow_each_other(desk: Desk) -> None:
    async with desk.open() as hark:
        answers = await asyncio.gather(*(hark.runtime.reload("weather.skill") for _ in range(5)))
        assert all(isinstance(answer, Reloaded) for answer in answers)
        assert await hark.hears(HOW) == ["Sunny."]
        assert list(hark.runtime.ids()).count("weather.skill") == 1


async def test_a_folder_that_is_named_before_it_is_there_comes_when_it_is(desk: Desk) -> None:
    desk.set(["sky"])
    async with desk.open() as hark:
        assert len(hark.runtime.refusals) == 1
        for name, text in PACKAGE.items():
            desk.save(f"sky/{name}", text)
        await desk.scan()
        assert await hark.hears("is it raining") == ["Wet."]
        assert hark.runtime.refusals == []
