"""What OVOS clients of both lines send and expect, translated."""

from __future__ import annotations

import logging

import pytest
from bridge_rig import HELLO, Rig, topics_of

from hark.model import Handler, Message, ResponseMode, Session
from hark.spec import topics


@pytest.mark.parametrize("line", ["stable", "prerelease"])
async def test_a_launcher_is_told_that_skills_may_be_loaded(line: str) -> None:
    rig = Rig()
    rig.recorded(line)
    [answer] = [one for one in rig.link.sent if one.type == "mycroft.skills.is_ready.response"]
    assert answer.data["status"] is True


async def test_a_skill_that_says_ready_hears_it_once_and_loaded_skills_are_not_loaded_again() -> None:
    rig, other = Rig(), Rig()
    other.recorded("stable")
    rig.recorded("stable")
    assert topics_of(rig.up("mycroft.ready")) == ["mycroft.ready"]
    assert topics_of(rig.link.sent)[-1] == "mycroft.ready"
    assert rig.down("mycroft.ready") == [], "it has heard its own"
    assert other.down("mycroft.ready") == []
    assert topics_of(Rig().down("mycroft.ready")) == ["mycroft.ready"], "a launcher that waits"
    before = len(rig.link.sent)
    assert (rig.up("mycroft.ready"), len(rig.link.sent)) == ([], before), "its launcher has loaded it again"


async def test_a_stable_skill_is_registered_from_its_pieces() -> None:
    rig = Rig()
    made = rig.recorded("stable")
    registered = {one.data["intent_name"]: one for one in rig.link.emitted}
    keyword, template = registered["HelloWorldIntent"], registered["HowAreYou.intent"]
    assert keyword.type == topics.REGISTER_KEYWORD
    assert keyword.data["required"][0]["name"] == "HelloWorldKeyword"
    assert set(keyword.data["required"][0]["samples"]) == {"hello world", "greetings"}
    assert template.type == topics.REGISTER_TEMPLATE
    assert template.data["samples"] == ("how are you", "how have you been")
    assert all(one.data["completes"] is True and one.data["skill_id"] == HELLO for one in registered.values())
    [loaded] = [one for one in made if one.type == topics.SKILL_LOADED]
    assert loaded.data["capabilities"] == ("converse",)


async def test_a_prerelease_registration_is_taken_once_in_its_newer_form() -> None:
    rig = Rig()
    made = rig.recorded("prerelease")
    await rig.clock.advance(1.0)
    assert topics_of([*made, *rig.link.emitted]).count(topics.REGISTER_TEMPLATE) == 1


async def test_a_program_that_follows_the_specifications_is_served_as_it_is() -> None:
    rig = Rig()
    intent = {"skill_id": HELLO, "intent_name": "think", "lang": "en-US", "samples": ["think"]}
    [registered] = rig.up(topics.REGISTER_TEMPLATE, intent, skill_id=HELLO)
    assert "completes" not in registered.data, "its handlers end by the quiet time"
    assert topics_of(rig.call(HELLO, "response")) == [f"{HELLO}:response"]
    asks = Session("a").trusted(response_mode=ResponseMode(HELLO, 60.0))
    [question] = rig.up(topics.UTTERANCE_SPEAK, {"utterance": "which?"}, asks, utterance_id="u1", skill_id=HELLO)
    assert question.session == asks
    rig.up("mycroft.skills.is_ready")
    [again] = [one for one in rig.link.emitted if one.type == topics.REGISTER_TEMPLATE]
    assert again.data["completes"] is True, "it is a skill of OVOS"


@pytest.mark.parametrize("how", ["complete", "error"])
async def test_a_program_that_is_none_of_ovos_says_how_its_handler_went_as_one_of_ovos_does(how: str) -> None:
    rig = Rig()
    rig.up(topics.REGISTER_TEMPLATE, {"skill_id": "tea", "intent_name": "go", "lang": "en-US", "samples": ["x"]})
    for turn in ("u1", "u2"):
        [call] = rig.call("tea", "go", Session("kitchen"), turn)
        assert "utterances" not in call.data, "the call is not the one of OVOS"
        asking = Session("kitchen", response_mode=ResponseMode("tea", 9e9))
        for topic in (topics.LEGACY_HANDLER_START, f"mycroft.skill.handler.{how}"):
            [passed] = rig.up(topic, {}, asking, utterance_id=turn, skill_id="tea")
            assert (passed.type, passed.session) == (topic, asking), "the server takes it from there"


@pytest.mark.parametrize(("line", "intent_name"), [("stable", "HelloWorldIntent"), ("prerelease", "how_are_you")])
async def test_a_turn_speaks_once_and_ends_once(line: str, intent_name: str) -> None:
    rig = Rig()
    rig.recorded(line)
    rig.call(HELLO, intent_name)
    made = topics_of(rig.recorded(line, until=""))
    assert made.count(topics.UTTERANCE_SPEAK) == 1
    assert made.count(topics.HANDLER_DONE) == 1
    assert topics.UTTERANCE_HANDLED not in made
    assert "speak" not in made


async def test_the_session_of_a_client_is_not_the_one_of_the_device() -> None:
    rig = Rig("stable")
    foreign = Session(lang="pt-BR", pipeline=("stop_high",), blacklisted_skills=("clock.skill",))
    [entry] = rig.up("recognizer_loop:utterance", {"utterances": ["hello"], "lang": "en-US"}, foreign)
    assert entry.type == topics.UTTERANCE_HANDLE
    assert entry.data["utterances"] == ("hello",)
    assert entry.session == Session()


async def test_only_the_stable_line_gets_older_names() -> None:
    speak = topics.UTTERANCE_SPEAK, {"utterance": "hi", "listen": True}
    stable, newer = Rig("stable"), Rig("prerelease")
    heard = stable.down(*speak)
    assert topics_of(heard) == [topics.UTTERANCE_SPEAK, "speak"]
    assert heard[1].data["expect_response"] is True
    assert topics_of(newer.down(*speak)) == [topics.UTTERANCE_SPEAK]
    stable.up(topics.UTTERANCE_SPEAK, {"utterance": "hi"})
    assert topics_of(stable.down(*speak)) == [topics.UTTERANCE_SPEAK], "it uses the newer names itself"


async def test_a_prerelease_question_listens() -> None:
    rig = Rig()
    rig.recorded("prerelease")
    rig.call(HELLO, "how_are_you")
    question = {"utterance": "when?", "expect_response": True}
    [asked] = rig.up(topics.UTTERANCE_SPEAK, question, utterance_id="u1", skill_id=HELLO)
    assert asked.data["listen"] is True


async def test_slots_are_also_at_the_top_of_a_call() -> None:
    rig = Rig()
    rig.recorded("stable")
    [call] = rig.call(HELLO, "HelloWorldIntent", city="lisbon", utterance="other")
    assert call.data["city"] == "lisbon"
    assert call.data["utterance"] == "words"
    assert call.data["utterances"] == ("words",)


@pytest.mark.parametrize(
    ("name", "called", "answer"),
    [
        ("fallback", f"ovos.skills.fallback.{HELLO}.request", f"ovos.skills.fallback.{HELLO}.response"),
        ("converse", f"{HELLO}.converse.request", "skill.converse.response"),
        ("stop", f"{HELLO}.stop", f"{HELLO}.stop.response"),
    ],
)
async def test_a_reserved_call_ends_with_its_answer(name: str, called: str, answer: str) -> None:
    rig = Rig()
    rig.recorded("stable")
    assert topics_of(rig.call(HELLO, name)) == [called]
    assert rig.up("mycroft.skill.handler.complete", utterance_id="u1", skill_id=HELLO) == []
    [done] = rig.up(answer, {"skill_id": HELLO, "result": True}, utterance_id="u1", skill_id=HELLO)
    assert done.type == topics.HANDLER_DONE
    assert done.data["outcome"] == "complete"
    assert rig.up(answer, {"skill_id": HELLO}, utterance_id="u1", skill_id=HELLO) == []


@pytest.mark.parametrize("name", ["converse", "fallback", "stop"])
async def test_what_a_reserved_handler_says_goes_to_the_one_who_spoke(name: str) -> None:
    rig = Rig()
    rig.recorded("stable")
    data = {"utterance": "words", "lang": "en-US", "slots": {}}
    topic = f"{HELLO}:{name}"
    [called] = rig.down(topic, data, utterance_id="u1", skill_id=HELLO, source="hark", destination="satellite")
    # What skills of both lines do before they let a user converse with them.
    begun = called.reply(called.type) if name == "converse" else called
    assert (begun.context["source"], begun.context["destination"]) == ("hark", "satellite")


async def test_a_handler_that_fails_ends_with_its_error() -> None:
    rig = Rig()
    rig.recorded("stable")
    rig.call(HELLO, "HelloWorldIntent")
    [done] = rig.up("mycroft.skill.handler.error", {"exception": "no water"}, utterance_id="u1", skill_id=HELLO)
    assert (done.data["outcome"], done.data["exception"]) == ("error", "no water")
    assert done.data["said"] is False
    rig.call(HELLO, "HelloWorldIntent", turn="u2")
    rig.up("speak", {"utterance": "An error occurred."}, utterance_id="u2", skill_id=HELLO)
    [done] = rig.up("mycroft.skill.handler.error", {"exception": "no water"}, utterance_id="u2", skill_id=HELLO)
    assert done.data["said"] is True, "the assistant need not say it again"


async def test_get_response_opens_a_question_and_its_answer_is_handed_over_at_once() -> None:
    rig = Rig()
    rig.recorded("stable")
    rig.call(HELLO, "HelloWorldIntent", Session("kitchen"))
    rig.up("skill.converse.get_response.enable", {"skill_id": HELLO}, utterance_id="u1", skill_id=HELLO)
    [asked] = rig.up("speak", {"utterance": "when?", "expect_response": True}, utterance_id="u1", skill_id=HELLO)
    assert asked.session is not None
    assert asked.session.response_mode is not None
    assert asked.session.response_mode.skill_id == HELLO
    assert asked.data["listen"] is True
    assert topics_of(rig.call(HELLO, "response", turn="u2")) == [f"{HELLO}.converse.get_response"]
    assert topics_of(rig.link.emitted)[-1] == topics.HANDLER_DONE
    rig.up("skill.converse.get_response.disable", {"skill_id": HELLO}, utterance_id="u1", skill_id=HELLO)
    [done] = rig.up("mycroft.skill.handler.complete", utterance_id="u1", skill_id=HELLO)
    assert done.session is not None
    assert done.session.response_mode is None


async def test_a_stable_skill_that_does_not_answer_a_converse_ping_is_declined_for() -> None:
    rig = Rig()
    rig.recorded("stable")
    session = Session(converse_handlers=(Handler(HELLO, 1.0),))
    assert f"{HELLO}.converse.ping" in topics_of(rig.down(topics.CONVERSE_PING, session=session, utterance_id="u1"))
    emitted = len(rig.link.emitted)
    await rig.clock.advance(1.0)
    [pong] = rig.link.emitted[emitted:]
    assert (pong.type, pong.data["can_handle"]) == (topics.CONVERSE_PONG, False)
    assert f"{HELLO}.converse.ping" not in topics_of(rig.down(topics.CONVERSE_PING, session=session, utterance_id="u2"))
    assert rig.link.emitted[-1].utterance_id == "u2", "it is not waited for again"


async def test_a_stable_skill_that_has_answered_when_it_was_loaded_may_be_slow_in_a_turn() -> None:
    rig = Rig()
    rig.recorded("stable")
    assert f"{HELLO}.converse.ping" in topics_of(rig.link.sent)
    assert rig.up("skill.converse.pong", {"skill_id": HELLO, "can_handle": False}) == [], "it is of no turn"
    session = Session(converse_handlers=(Handler(HELLO, 1.0),))
    asked = rig.down(topics.CONVERSE_PING, {"utterances": ["hi"]}, session, utterance_id="u1")
    assert f"{HELLO}.converse.ping" in topics_of(asked)
    await rig.clock.advance(1.0)
    assert topics.CONVERSE_PONG not in topics_of(rig.link.emitted), "it is not declined for"


async def test_a_prerelease_skill_is_asked_by_name_in_the_session_of_the_device() -> None:
    rig = Rig()
    rig.recorded("prerelease")
    handlers = (Handler(HELLO, 1.0), Handler("other.skill", 2.0))
    asked = rig.down(topics.CONVERSE_PING, session=Session(converse_handlers=handlers), utterance_id="u1")
    assert topics_of(asked) == [f"{HELLO}.converse.ping"]
    asked = rig.down(topics.CONVERSE_PING, session=Session("kitchen", converse_handlers=handlers), utterance_id="u1")
    assert topics_of(asked) == [topics.CONVERSE_PING]
    [pong] = rig.up("skill.converse.pong", {"skill_id": HELLO, "can_handle": True}, utterance_id="u1", skill_id=HELLO)
    assert (pong.type, pong.data["can_handle"]) == (topics.CONVERSE_PONG, True)


async def test_a_skill_that_shows_what_it_can_do_is_reported_again() -> None:
    rig = Rig()
    rig.recorded("stable")
    [report] = rig.up(topics.COMMON_QUERY_PONG, {"skill_id": HELLO})
    assert report.type == topics.SKILL_LOADED
    assert report.data["capabilities"] == ("common_query", "converse")
    made = rig.up("ovos.skills.fallback.register", {"skill_id": HELLO, "priority": 100})
    assert topics_of(made) == [topics.FALLBACK_REGISTER, topics.SKILL_LOADED]
    assert made[1].data["capabilities"] == ("common_query", "converse", "fallback")


async def test_a_common_query_is_asked_and_answered_under_its_older_name() -> None:
    rig = Rig()
    rig.recorded("stable")
    question = {"utterance": "how high", "lang": "en-US", "skill_id": HELLO}
    asked = rig.down(topics.COMMON_QUERY_REQUEST, question, utterance_id="u1")
    assert asked[-1].type == "question:query"
    assert asked[-1].data["phrase"] == "how high"
    other = {**question, "skill_id": "other.skill"}
    rig.up("mycroft.skills.loaded", {"id": "other.skill"}, skill_id="other.skill")
    assert "question:query" not in topics_of(rig.down(topics.COMMON_QUERY_REQUEST, other, utterance_id="u1"))
    assert "question:query" in topics_of(rig.down(topics.COMMON_QUERY_REQUEST, other, utterance_id="u2"))
    assert rig.up("question:query.response", {"phrase": "how high", "skill_id": HELLO, "searching": True}) == []
    [answer] = rig.up(
        "question:query.response",
        {"phrase": "how high", "skill_id": HELLO, "answer": "very", "conf": 1.7},
        utterance_id="u1",
    )
    assert answer.type == topics.COMMON_QUERY_RESPONSE
    assert (answer.data["answer"], answer.data["conf"]) == ("very", 1.0)


async def test_a_skill_sets_its_own_context_and_shared_context() -> None:
    rig = Rig()
    rig.recorded("stable")
    munged = "ovos_skill_hello_world_openvoiceosPlace"
    [own] = rig.up("add_context", {"context": munged, "word": "lisbon"}, skill_id=HELLO)
    assert (own.type, own.data["key"], own.data["scope"]) == (topics.CONTEXT_SET, "Place", "private")
    [shared] = rig.up("mycroft.skill.set_cross_context", {"context": "Place", "word": "lisbon"}, skill_id=HELLO)
    assert (shared.data["value"], shared.data["scope"]) == ("lisbon", "shared")
    [gone] = rig.up("remove_context", {"context": munged}, skill_id=HELLO)
    assert gone.type == topics.CONTEXT_UNSET


async def test_intents_are_switched_for_the_skill_that_says_so() -> None:
    rig = Rig("stable")
    [off] = rig.up("mycroft.skill.disable_intent", {"intent_name": "HowAreYou.intent"}, skill_id=HELLO)
    assert (off.type, off.data["skill_id"]) == (topics.INTENT_DISABLE, HELLO)
    [gone] = rig.up("detach_intent", {"intent_name": f"{HELLO}:HowAreYou.intent"})
    assert dict(gone.data) == {"skill_id": HELLO, "intent_name": "HowAreYou.intent"}
    assert rig.up("mycroft.skill.enable_intent", {"intent_name": "HowAreYou.intent"}) == []


async def test_a_skill_activates_itself_in_the_session_of_its_turn() -> None:
    rig = Rig()
    rig.recorded("stable")
    rig.call(HELLO, "HelloWorldIntent")
    rig.up("intent.service.skills.activate", {"skill_id": HELLO}, utterance_id="u1", skill_id=HELLO)
    assert rig.link.sent[-1].type == "intent.service.skills.activated"
    [done] = rig.up("mycroft.skill.handler.complete", utterance_id="u1", skill_id=HELLO)
    assert done.session is not None
    assert [one.skill_id for one in done.session.converse_handlers] == [HELLO]


async def test_a_skill_that_waits_hears_that_its_speech_has_ended() -> None:
    rig = Rig()
    rig.recorded("stable")
    rig.translator.rendered(Message(topics.SPEECH_RENDERED, {}, {"skill_id": HELLO}, Session("kitchen")), 0.25)
    assert topics_of(rig.link.sent)[-1] == "recognizer_loop:audio_output_start"
    await rig.clock.advance(0.3)
    assert topics_of(rig.link.sent)[-1] == "recognizer_loop:audio_output_end"
    assert rig.link.sent[-1].session_id == "kitchen"


async def test_an_orchestrator_is_named_and_gets_no_utterances(caplog: pytest.LogCaptureFixture) -> None:
    rig = Rig("prerelease")
    assert topics_of(rig.down(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]})) == [topics.UTTERANCE_HANDLE]
    with caplog.at_level(logging.WARNING):
        assert rig.up("mycroft.skills.train") == []
        assert rig.up("complete_intent_failure") == []
    assert sum("ovos-core" in one.message for one in caplog.records) == 1
    assert rig.down(topics.UTTERANCE_HANDLE, {"utterances": ["hello"]}) == []
    assert topics_of(rig.down(topics.UTTERANCE_SPEAK, {"utterance": "hi"})) == [topics.UTTERANCE_SPEAK]


async def test_skills_are_listed() -> None:
    rig = Rig("stable")
    rig.bridge.skills.add(HELLO)
    rig.up("skillmanager.list")
    assert rig.link.sent[-1].type == "mycroft.skills.list"
    assert HELLO in rig.link.sent[-1].data


@pytest.mark.parametrize(("line", "sent"), [("stable", None), (None, None), (None, "mycroft.skills.is_ready")])
async def test_a_client_that_comes_back_is_told_to_load_its_skills_again(line: str | None, sent: str | None) -> None:
    rig = Rig(line)  # the stable line asks for the session each time that it is connected
    if sent is not None:  # a launcher that was just started
        rig.up(sent)
    before = len(rig.link.sent)
    await rig.clock.advance(5.0)
    assert topics_of(rig.link.sent[before:]) == ([] if sent is not None else ["mycroft.ready"])
