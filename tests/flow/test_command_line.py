"""The command line, as real processes."""

from __future__ import annotations

import fcntl
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hark_process import World, complaints, eventually

from hark import __version__
from hark.app.settings import Settings, settings_from

PROBE = """
import time
from hark.skills import Skill, intent

class Fails(Skill):
    id = "fails.skill"

    @intent("break something")
    def fall_over(self, turn):
        raise ZeroDivisionError("on purpose\\nand more")

class Reminder(Skill):
    id = "reminder.skill"

    @intent("watch the egg")
    async def remind(self, turn):
        await turn.speak("I will", wait=True)
        self.host.after(0, lambda: self.host.speak("the egg is done"))

    @intent("work (for|on) (ever|and on)")
    async def work(self, turn):
        await turn.speak("working")
        await self.host.clock.sleep(3600)

    @intent("spin around")
    async def spin(self, turn):
        print("spinning", flush=True)
        while True:
            pass
"""
SLEEPER = """
import asyncio
from hark.plugins import Plugin

class Sleeper(Plugin):
    id = "sleeper"

    async def start(self):
        print("starting", flush=True)
        await asyncio.Event().wait()
"""
BROKEN = "import no_such_module_anywhere\n"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_lines_on_standard_input_are_answered_and_the_assistant_leaves(world: World) -> None:
    done = world.hark("run", said="what time is it\nsay hello world\n")
    assert re.fullmatch(r"It is \d?\d:\d\d [AP]M\.\nhello world\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_last_line_needs_no_line_break_and_blank_ones_say_nothing(world: World) -> None:
    done = world.hark("run", said="\n  \nsay one\n\nsay two")
    assert (done.returncode, done.stdout) == (0, "one\ntwo\n")


def test_what_nobody_claims_is_said_and_can_be_asked_about_afterwards(world: World) -> None:
    done = world.hark("run", said="frobnicate the widget\nsay hello\n")
    unclaimed, hint, answer = done.stdout.splitlines()
    assert re.search(r"did not (understand|get) that", unclaimed)
    ask = re.fullmatch(r"\(Details: hark why (\S+)\)", hint)
    assert ask is not None
    assert (done.returncode, answer) == (0, "hello")
    story = world.hark("why", ask[1])
    assert story.returncode == 0
    assert story.stdout.startswith('"frobnicate the widget"  session default, en-US')
    assert re.search(r"ms  match +template +declined +\S", story.stdout)
    assert "No plugin claimed this." in story.stdout


def test_a_cancelled_utterance_and_a_handler_that_fails_are_said_in_words(world: World) -> None:
    world.install("probe", PROBE, "skill: Fails")
    done = world.hark("run", said="never mind\nbreak something\nsay still here\n")
    cancelled, spoken, failed, answer = done.stdout.splitlines()
    assert cancelled == "Cancelled."
    assert "the skill fails" in spoken
    assert failed.startswith("(fails.skill:fall_over: ZeroDivisionError: on purpose and more")
    assert " Details: hark why " in failed
    assert (done.returncode, answer) == (0, "still here")


def test_a_line_that_is_not_utf8_is_passed_over(world: World) -> None:
    done = world.hark("run", said=b"\xff\xfe\nsay hello\n")
    assert done.stdout == "This line is not UTF-8; it was ignored.\nhello\n"
    assert (done.returncode, done.stderr) == (0, "")


def test_why_from_another_process_explains_the_last_turn_of_the_one_that_runs(world: World) -> None:
    with world.running("run") as hark:
        assert hark.say("say hello world") == "hello world"
        story = world.hark("why")
        assert story.returncode == 0
        assert story.stdout.startswith('"say hello world"  session default')
        assert re.search(r"\d ms  match +template(_exact)? +claimed +parrot.skill:say", story.stdout)
        assert "Answered." in story.stdout
        assert hark.end() == (0, "")


def test_say_talks_to_the_assistant_that_runs_in_the_session_of_the_device(world: World) -> None:
    with world.running("run") as hark:
        hark.say("say I am here")
        answered = world.hark("say", "say", "hello", "world", "--why")
        assert answered.returncode == 0
        answer, story = answered.stdout.split("\n", 1)
        assert answer == "hello world"
        assert '"say hello world"  session default' in story
        unclaimed = world.hark("say", "frobnicate")
        assert unclaimed.returncode == 1
        assert re.fullmatch(r".*did not (understand|get) that.*\n\(Details: hark why \S+\)\n", unclaimed.stdout)
        foreign = world.hark("say", "bonjour", "--lang", "fr-FR")
        assert (foreign.returncode, foreign.stdout) == (2, "")
        assert foreign.stderr == "hark: this assistant does not understand fr-FR; it understands en-US\n"
        assert hark.say("say and still here") == "and still here"


def test_say_alone_prints_the_answer_and_every_step(world: World) -> None:
    done = world.hark("say", "say hello world", "--why")
    answer, head, *steps, end = done.stdout.splitlines()
    assert (done.returncode, done.stderr, answer) == (0, "", "hello world")
    assert head.startswith('"say hello world"  session default, en-US, turn ')
    assert all(re.match(r" +\d+\.\d+ ms  (utterance|match|intent|handler|speak) ", step) for step in steps)
    stages = [step.split()[2] for step in steps]
    assert stages == ["utterance", "utterance", *["match"] * 6, "intent", "handler", "speak"]
    assert re.match(r"Answered\.  \d+\.\d+ ms in total", end)


def test_the_exit_status_tells_whether_it_was_answered(world: World) -> None:
    world.install("probe", PROBE, "skill: Fails")
    assert world.hark("say", "what time is it").returncode == 0
    assert world.hark("say", "frobnicate").returncode == 1
    assert world.hark("say", "break something").returncode == 1
    assert world.hark("say", "never mind").returncode == 1
    assert world.hark("say", "hello", "--lang", "en_US").returncode == 2
    assert world.hark("say").returncode == 2


def test_say_goes_on_without_state_when_whoever_has_it_does_not_answer(world: World) -> None:
    world.state.mkdir(parents=True)
    with (world.state / "lock").open("w") as lock:
        lock.write("somebody else\n")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = world.hark("say", "say hello")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert (
        done.stderr
        == f"hark: {world.state} is in use by somebody else; this command runs without it and stores nothing\n"
    )
    assert sorted(path.name for path in world.state.iterdir()) == ["lock"]


def test_without_any_turn_on_record_why_says_so(world: World) -> None:
    done = world.hark("why")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"hark: there is no turn on record. No assistant is running, and none is on disk in {world.state}\n"
    )
    world.hark("say", "help")
    assert 'no turn with an id that begins with "zz" on record' in world.hark("why", "zz").stderr


def test_traces_stay_off_the_disk_when_told_to(world: World) -> None:
    world.write_settings("[trace]\ndisk = false\n")
    assert world.hark("run", said="say hello\n").stdout == "hello\n"
    assert sorted(path.name for path in world.state.iterdir()) == ["lock", "session.json"]
    assert world.hark("why").returncode == 1


def test_speech_that_nobody_asked_for_is_printed_when_it_comes(world: World) -> None:
    world.install("probe", PROBE, "skill: Reminder")
    with world.running("run") as hark:
        assert hark.say("watch the egg") == "I will"
        assert hark.line() == "the egg is done"
        assert hark.end() == (0, "")


def test_an_assistant_that_stays_is_stopped_by_a_signal_in_good_order(world: World) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with world.running("run", "--stay") as hark:
            assert hark.say("say hello") == "hello"
            assert world.hark("say", "say hello").stdout == "hello\n"
            hark.signal(number)
            assert hark.end() == (0, "")
            assert hark.errors == "hark: ready; a signal stops it\n"
            assert not (world.state / "control.sock").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_an_assistant_that_a_plugin_blocks(world: World, number: signal.Signals) -> None:
    world.install("probe", PROBE, "skill: Reminder")
    with world.running("run") as hark:
        assert hark.say("spin around") == "spinning"

        def has_ended() -> bool:
            hark.signal(number)
            return not Path(f"/proc/{hark.pid}").exists()

        eventually(has_ended)


def test_an_assistant_can_be_stopped_while_it_starts(world: World) -> None:
    world.install("sleeper", SLEEPER, "skill: Sleeper")
    with world.running("run") as hark:
        assert hark.line() == "starting"
        hark.signal(signal.SIGTERM)
        assert hark.end(hang_up=False) == (0, "")


def test_say_does_not_repeat_what_an_assistant_that_went_away_may_have_done(world: World) -> None:
    world.install("probe", PROBE, "skill: Reminder")
    with world.running("run") as hark:
        hark.say("say hello")
        with world.running("say", "work for ever") as asking:
            assert asking.line() == "working"
            hark.signal(signal.SIGKILL)
            assert asking.end() == (1, "hark: the assistant stopped before the end of its answer\n")


def test_a_turn_without_end_does_not_hold_up_the_shutdown(world: World) -> None:
    world.install("probe", PROBE, "skill: Reminder")
    world.write_settings("[limits]\ngrace = 0.1\n")
    with world.running("run") as hark:
        assert hark.say("work for ever") == "working"
        hark.signal(signal.SIGTERM)
        status, errors = hark.end(hang_up=False)
        assert status == 0
        assert "1 turns were still open" in errors
    assert "shut down" in world.hark("why").stdout


def test_a_second_assistant_on_the_same_state_is_told_who_has_it(world: World) -> None:
    with world.running("run") as hark:
        hark.say("say hello")
        second = world.hark("run", said="say hello\n")
        assert (second.returncode, second.stdout) == (2, "")
        assert second.stderr == (
            f"hark: {world.state} is in use by the assistant with process id {hark.pid}; "
            "talk to that one with: hark say, or choose another with --state\n"
        )
        third = world.hark("run", "--state", str(world.home / "other"), said="say hello\nfrobnicate\n")
        answer, _, unclaimed = third.stdout.splitlines()
        assert (third.returncode, answer) == (0, "hello")
        assert unclaimed.endswith(f" --state {world.home / 'other'})")


def test_a_reader_that_has_read_enough_is_left_quietly(world: World) -> None:
    with world.running("run") as hark:
        assert hark.say("say hello") == "hello"
        hark.close_output()
        hark.write("say nobody reads this")
        assert hark.end(hang_up=False) == (0, "")


@pytest.mark.parametrize("command", ["say hello", "settings", "why", "--help"])
def test_commands_whose_output_nobody_reads_are_quiet_about_it(world: World, command: str) -> None:
    if command == "why":
        world.hark("say", "say hello")
    with world.running(*(["say", "say", "hello"] if command == "say hello" else [command])) as hark:
        hark.close_output()
        assert hark.end() == (0, "")


def test_a_disk_that_is_full_is_said_in_one_line(world: World) -> None:
    command = [sys.executable, "-m", "hark", "say", "say hello"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=world.environment, timeout=30)
    assert (done.returncode, complaints(done.stderr)) == (
        2,
        "hark: the output cannot be written: No space left on device\n",
    )


def test_streams_that_are_not_there_do_no_harm(world: World) -> None:
    for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
        command = f'"{sys.executable}" -m hark run {closed}'
        done = subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, capture_output=True, env=world.environment)
        assert (done.returncode, complaints(done.stderr)) == (0, ""), closed


def test_settings_that_are_wrong_are_all_named_and_nothing_is_run(world: World) -> None:
    world.write_settings("[assistant]\nlnag = 'de'\n[limits]\nmatch = -1\n")
    for command in (["run"], ["say", "hello"]):
        done = world.hark(*command, said="say hello\n")
        assert (done.returncode, done.stdout) == (2, "")
        key, number = done.stderr.splitlines()
        unknown = f"hark: {world.settings}:2: [assistant] lnag: there is no such key; did you mean lang? The keys are: "
        assert key.startswith(unknown)
        not_above = "-1 is not a number of seconds above 0; the default is 10.0"
        assert number == f"hark: {world.settings}:4: [limits] match: {not_above}"


def test_a_settings_file_that_is_named_has_to_be_there(world: World) -> None:
    missing = world.home / "mine.toml"
    done = world.hark("run", "--settings", str(missing), said="say hello\n")
    assert done.returncode == 2
    assert done.stderr == f"hark: {missing}: there is no such file; hark settings prints one to start with\n"
    missing.write_text("[assistant]\npipeline = ['tempalte']\n")
    done = world.hark("run", "--settings", str(missing))
    assert done.returncode == 0
    assert done.stderr == (
        f"hark: {missing}: [assistant] pipeline names 'tempalte', which is not loaded; did you mean 'template'?\n"
    )


def test_the_settings_it_prints_are_the_defaults_and_can_be_used(world: World) -> None:
    done = world.hark("settings")
    assert done.returncode == 0
    assert settings_from(tomllib.loads(done.stdout)) == Settings()
    world.write_settings(done.stdout)
    assert world.hark("run", said="say hello\n").stdout == "hello\n"


def test_plugins_that_cannot_be_loaded_are_named_with_the_reason_and_the_rest_works(world: World) -> None:
    world.install("probe", PROBE, "skill: Fails")
    world.install("broken", BROKEN, "skill: Weather")
    world.write_settings("[plugins.'fails.skill']\nloud = true\n[plugins.elsewhere]\n")
    done = world.hark("run", said="say hello\n")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    head, *reasons, place, hint = done.stderr.splitlines()
    assert head == "hark: 2 plugins not loaded:"
    assert place == f"hark:   the settings of plugins are in {world.settings}"
    assert hint == f"hark: {world.settings}: [plugins] names 'elsewhere', which is not loaded"
    first, second = sorted(reasons)
    assert "hark:   hark.skill weather is not loaded: importing it failed: ModuleNotFoundError: No module" in first
    assert f"{world.site}/broken.py:1" in first
    assert "hark:   skill fails.skill is not loaded: it has no setting 'loud'" in second
    assert f"{world.site}/probe.py:" in second
    assert "not loaded:" not in world.hark("run", "--no-plugins", said="say hello\n").stderr


def test_in_a_terminal_it_is_a_conversation_that_ctrl_d_ends(world: World) -> None:
    with world.at_terminal("run") as hark:
        hark.until("> ")
        hark.write("say hello world")
        hark.until("\nhello world\r\n")
        hark.until("> ")
        hark.write("frobnicate")
        hark.until("\r\n(Details: hark why ")
        hark.until("> ")
        hark.press("\x04")
        status, errors = hark.end()
    assert status == 0
    greeting = rf'Hark {__version__}, en-US: \d+ skills, \d+ matchers, \d+ transformers\. "help" gives examples'
    assert re.match(greeting, errors)


def test_in_a_terminal_ctrl_c_leaves_in_good_order(world: World) -> None:
    with world.at_terminal("run") as hark:
        hark.until("> ")
        hark.write("say hello world")
        hark.until("\nhello world\r\n")
        hark.until("> ")
        hark.press("\x03")
        status, errors = hark.end()
    assert status == 0
    assert "Traceback" not in errors
    assert not (world.state / "control.sock").exists()


def test_speech_that_comes_at_the_prompt_is_shown_and_the_prompt_comes_again(world: World) -> None:
    world.install("probe", PROBE, "skill: Reminder")
    with world.at_terminal("run") as hark:
        hark.until("> ")
        hark.write("watch the egg")
        hark.until("\nI will\r\n")
        hark.until("the egg is done\r\n> ")
        hark.write("say goodbye")
        hark.until("\ngoodbye\r\n")
        hark.until("> ")
        hark.press("\x04")
        assert hark.end()[0] == 0


def test_a_socket_that_was_left_behind_does_not_matter(world: World) -> None:
    with world.running("run") as hark:
        hark.say("say hello")
        hark.signal(signal.SIGKILL)
        hark.end()
    assert (world.state / "control.sock").is_socket()
    assert world.hark("say", "say hello").stdout == "hello\n"
    with world.running("run") as hark:
        assert hark.say("say hello") == "hello"
        assert "session default" in world.hark("why").stdout


def test_everything_on_disk_is_for_its_owner_alone(world: World) -> None:
    with world.running("run") as hark:
        hark.say("say hello")
        eventually((world.state / "session.json").exists)
        eventually((world.state / "traces.jsonl").exists)
        modes = {path.name: path.stat().st_mode & 0o777 for path in world.state.iterdir()}
    assert modes == dict.fromkeys(("lock", "session.json", "traces.jsonl", "control.sock"), 0o600)
    assert world.state.stat().st_mode & 0o777 == 0o700


def test_the_small_things(world: World) -> None:
    assert world.hark("--version").stdout == f"hark {__version__}\n"
    nothing = world.hark()
    assert nothing.returncode == 2
    assert "hark say" in nothing.stderr
    for command in ("run", "say", "why", "settings"):
        helped = world.hark(command, "--help")
        assert helped.returncode == 0
        assert "example" in helped.stdout
    wrong = world.hark("dance")
    assert wrong.returncode == 2
    assert "'dance' is not a command" in wrong.stderr
