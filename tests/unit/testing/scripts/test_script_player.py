"""Playing conversations."""

import pytest
from talking_skills import CONVERSING, Drawer, Kettle, converse, differs

from hark.plugins import Plugin
from hark.testing import play
from hark.testing.scripts.errors import ScriptError


async def test_what_is_said_is_compared_in_order() -> None:
    await converse("user: talk a lot\nhark: one\nhark: two\nhark: three\n")
    told = await differs("user: talk a lot\nhark: one\nhark: three\nhark: two\n")
    assert told.startswith("script:4: Hark said something else\n")
    assert '    said: "two"\n' in told
    assert '    said: "three"\n' in told


async def test_what_is_not_written_must_not_be_said() -> None:
    for rest in ("", "user: talk a lot\nhark: ...\n", "[1 minute later]\n", "[restart]\n"):
        told = await differs(f"user: talk a lot\nhark: one\nhark: two\n{rest}")
        assert "this line Hark said more than is written" in told
        assert 'said: "three"' in told


async def test_the_rest_may_be_left_open() -> None:
    await converse("user: talk a lot\nhark: one\nhark: ...\n")
    await converse("user: talk a lot\nhark: ...\nhark: two\nhark: three\n")
    await converse("user: what was it\nhark: ...\n")
    assert "Hark did not say it" in await differs("user: talk a lot\nhark: ...\nhark: four\n")
    assert "Hark said more" in await differs("user: talk a lot\nhark: ...\nhark: two\n")
    assert "Hark is not silent" in await differs("user: talk a lot\nhark: one\nhark says nothing\n")


async def test_silence_where_something_is_written() -> None:
    silent = {**CONVERSING, "plugins": {"remarks": {"not_understood": False}}}
    with pytest.raises(AssertionError) as raised:
        await play("language: en-US\nuser: florble\nhark: yes?\n", Drawer, settings=silent)
    told = str(raised.value)
    assert told.startswith("script:3: Hark said nothing\n")
    assert "No plugin claimed this." in told


async def test_a_question_is_asked_and_answered() -> None:
    await converse("user: order a pizza\nhark asks: which size\nuser: the second one\nhark: a large pizza *\n")
    told = await differs("user: talk a lot\nhark asks: one\n")
    assert "Hark said it, but does not listen for an answer" in told


async def test_nobody_answers() -> None:
    await converse("user: order a pizza\nhark asks: which size\n[30 seconds later]\nhark: then not\n")
    await converse("user: order a pizza\nhark asks: which size\n[29 seconds later]\nhark says nothing\n")


async def test_every_device_has_its_own_conversation() -> None:
    await converse(
        """
        user (kitchen): order a pizza
        hark (kitchen) asks: which size
        user (bedroom): order a pizza
        hark (bedroom) asks: which size
        user (bedroom): small
        user (kitchen): large
        hark (kitchen): a large pizza *
        hark (bedroom): a small pizza *
        hark says nothing
        """
    )


async def test_a_stop_in_one_room_leaves_the_other_alone() -> None:
    await converse(
        """
        user (kitchen): order a pizza
        hark (kitchen) asks: which size
        user: order a pizza
        hark asks: which size
        user (kitchen): stop
        hark (kitchen) says nothing
        user: large
        hark: a large pizza *
        """
    )


async def test_an_answer_in_the_wrong_room_is_shown() -> None:
    told = await differs("user (kitchen): talk a lot\nhark: one\n")
    assert 'said: "(kitchen) one"' in told


async def test_a_satellite_keeps_its_session() -> None:
    await converse(
        """
        user (kitchen): lay milk into the drawer
        hark (kitchen): milk is in the drawer
        user (kitchen): what was it
        hark (kitchen): it was milk
        user: what was it
        happens: ovos.intent.unmatched
        hark: * did not *
        """
    )


async def test_time_passes_where_it_is_written() -> None:
    await converse(
        """
        user: put the kettle on
        hark: the kettle is on
        [2 minutes later]
        hark says nothing
        [1 minute later]
        hark: the water boils
        """
    )
    told = await differs("user: put the kettle on\nhark: the kettle is on\nhark: the water boils\n")
    assert "Hark said nothing" in told
    assert "write for example [1 minute later]" in told


async def test_what_is_said_of_its_own_accord() -> None:
    await converse("user: wake me in a minute\nhark says nothing\n[1 minute later]\nhark: wake up\n")


async def test_a_time_that_is_over_is_a_difference() -> None:
    assert "name a time that is still to come" in await differs("[at 2020-01-01 12:00]\nuser: florble\n")


async def test_threads_and_networks_are_waited_for() -> None:
    await converse("user: think on a thread\nhark: I have thought\nuser: read the wire\nhark: I have read\n")
    await converse("user: read the wire\nhappens: ovos.intent.handler.complete\nhark: ...\n")


async def test_what_was_captured_is_used() -> None:
    await converse(
        """
        user: lay oat milk into the drawer
        hark: {item} is in the drawer
        happens: drawer.skill:put, item = {item}
        user: what lies in the drawer
        hark: there is {item}, *
        user: lay {item} into the drawer
        hark: {item} is in the drawer
        """
    )


async def test_a_name_in_a_branch_that_was_not_taken() -> None:
    told = await differs("user: talk a lot\nhark: (one|{x} more)\nhark: ...\nuser: {x}\n")
    assert "nothing was captured as {x}" in told


async def test_what_happens() -> None:
    await converse("user: lay milk into the drawer\nhark: *\nhappens: drawer.skill:put, item = m*\nhappens: drawer.*\n")
    for line in ("drawer.skill:tell", "drawer.skill:put, item = bread", "drawer.skill:put, colour = *"):
        told = await differs(f"user: lay milk into the drawer\nhark: *\nhappens: {line}\n")
        assert "this did not happen" in told
        assert "happened: drawer.skill:put, item = milk" in told


async def test_values_that_are_no_text() -> None:
    await converse("user: ring\nhappens: drawer.bell, loud = true, times = 2, rooms = hall kitchen, pitch = 1.5\n")
    assert "this did not happen" in await differs("user: ring\nhappens: drawer.bell, loud = false\n")


async def test_what_happened_earlier_does_not_count() -> None:
    assert "this did not happen" in await differs(
        "user: lay milk into the drawer\nhark: *\nuser: what lies in the drawer\nhark: *\nhappens: drawer.skill:put\n"
    )


async def test_what_must_never_be() -> None:
    await converse("never: bread\nnever happens: pizza.skill:*\nuser: lay milk into the drawer\nhark: *\n")
    told = await differs("user: lay milk into the drawer\nhark: *\nnever: milk\n")
    assert told.startswith("script:4: Hark said it\n")
    assert "Hark said it" in await differs("user: talk a lot\nhark: ...\nnever: two\n")
    told = await differs("never happens: drawer.skill:*\nuser: lay milk into the drawer\nhark: *\n")
    assert told.startswith("script:2: this happened\n")
    assert "happened: drawer.skill:put, item = milk" in told


async def test_a_handler_that_fails_is_a_difference_unless_it_is_written() -> None:
    told = await differs("user: fall over\nhark: *\n")
    assert "after this line a handler failed: drawer.skill:fall: LookupError: no floor" in told
    await converse("user: fall over\nhappens: ovos.intent.handler.error, exception = * floor *\nhark: *\n")


async def test_a_restart_keeps_what_is_on_disk_and_in_the_session_and_nothing_else() -> None:
    await converse(
        """
        user: lay milk into the drawer
        hark: *
        [restart]
        user: what lies in the drawer
        hark: there is milk, 0 since I began
        user: what was it
        hark: it was milk
        """
    )


async def test_a_restart_takes_no_time() -> None:
    await converse(
        "[restart]\nuser: order a pizza\nhark asks: *\n[restart]\nuser: what does the kettle show\nhark: 12:00\n"
    )


async def test_conversations_know_nothing_of_each_other() -> None:
    await converse(
        """
        == One ==
        user: lay milk into the drawer
        hark: *
        == Two ==
        user: what lies in the drawer
        hark: nothing
        """
    )


async def test_the_language_can_change() -> None:
    script = "language: en-US\nuser: say hi\nhark: hi\nlanguage: de-DE\nuser: say hi\nhappens: ovos.intent.unmatched\n"
    script += "hark: * nicht verstanden\n"
    await play(f"{script}language (kitchen): en-US\nuser (kitchen): say hi\nhark (kitchen): hi\n")


async def test_a_plugin_of_ones_own_takes_the_place_of_one_of_ours() -> None:
    class Clock(Drawer):
        id = "clock.skill"

    await play("language: en-US\nuser: what lies in the drawer\nhark: nothing\n", Clock)
    script = "language: en-US\nuser: what time is it\nnever happens: clock.skill:*\nhark: ...\n"
    await play(script, Clock())


async def test_a_plugin_that_does_not_start_is_told() -> None:
    class Broken(Drawer):
        async def start(self) -> None:
            raise OSError("no wheels")

    with pytest.raises(ScriptError, match="no wheels"):
        await play("user: what time is it\nhark: *\n", Broken())
    with pytest.raises(ScriptError, match="id"):
        await play("user: what time is it\nhark: *\n", Plugin)


async def test_settings_reach_the_assistant() -> None:
    settings = {**CONVERSING, "deny": {"skills": ["drawer.skill"]}}
    settings["assistant"] = {"pipeline": ["template"]}
    await play(
        "user: talk a lot\nhark: * did not *\nhappens: ovos.intent.unmatched\n", Drawer, Kettle, settings=settings
    )
