"""How sessions are put together: the cases worth telling one by one."""

from __future__ import annotations

from hark.model import ContextEntry, Handler, Session
from hark.model.session_merge import Denials, SessionChanges, commit, fold, three_way_merge


def test_intake_keeps_unlisted_keys_of_what_it_takes_and_of_what_it_leaves() -> None:
    store = Session.read({"location": {"tz": "a", "city": "b"}, "lang": "pt"})
    carrier = Session.read({"response_mode": {"skill_id": "a", "expires_at": 1, "prompt": "which?"}})

    assert fold(store, carrier).wire() == {**store.wire(), **carrier.wire()}


def test_intake_of_an_empty_list_of_state_clears_it() -> None:
    store = Session(active_handlers=[Handler("a", 1)])

    assert fold(store, Session.read({"active_handlers": []})).active_handlers == ()
    assert fold(store, Session.read({})).active_handlers == (Handler("a", 1),)


def test_intake_forgets_the_signals_of_the_last_utterance() -> None:
    store = Session(stt_lang="pt", detected_lang="es", request_lang="de", lang="en")

    assert fold(store, Session.read({"stt_lang": "fr"})) == Session(stt_lang="fr", lang="en")


def test_a_claim_cannot_drop_a_denylist_and_can_reorder_the_pipeline() -> None:
    of_round = Session("x", blacklisted_skills=["a"], pipeline=["p", "q"], utterance_transformers=["t"])
    updated = Session("x", blacklisted_intents=["b:c"], pipeline=["q", "p"])

    assert commit(updated, of_round) == of_round.replace(pipeline=["q", "p"])


def test_denials_are_frozen() -> None:
    denials = Denials.of(Session(blacklisted_skills=["a"]))

    assert denials.deny("blacklisted_skills", "a")
    assert not denials.deny("blacklisted_intents", "a")
    assert denials.grown(Session()) is denials
    assert hash(denials) == hash(Denials.of(Session(blacklisted_skills=["a"])))


def test_imposing_what_is_denied_already_changes_nothing() -> None:
    session = Session(blacklisted_skills=["b", "a"])

    assert Denials.of(Session(blacklisted_skills=["a"])).imposed_on(session) is session


def test_a_handler_that_removes_itself_removes_no_other() -> None:
    dispatched = Session("x", active_handlers=[Handler("a", 2), Handler("b", 1)])
    writes = SessionChanges.between(dispatched, dispatched.replace(active_handlers=[]), "a")

    assert writes is not None
    assert writes.applied_to(dispatched).active_handlers == (Handler("b", 1),)


def test_an_answered_question_is_not_asked_again_by_the_handler_that_asked_it() -> None:
    asking = Session("x", response_mode={"skill_id": "a", "expires_at": 9}, persona_id="p")
    meanwhile = asking.without("response_mode")
    writes = SessionChanges.between(asking, asking.replace(persona_id="q"), "a")

    assert writes is not None
    assert writes.applied_to(meanwhile) == Session("x", persona_id="q")


def test_a_handler_that_clears_what_it_set_removes_the_field() -> None:
    dispatched = Session("x", response_mode={"skill_id": "a", "expires_at": 9})
    writes = SessionChanges.between(dispatched, dispatched.without("response_mode"), "a")

    assert writes is not None
    assert writes.removed == ("response_mode",)
    assert writes.applied_to(dispatched.replace(lang="pt")) == Session("x", lang="pt")


def test_an_advance_brings_changes_and_removals_to_a_session_that_moved_on() -> None:
    base = Session(lang="pt", persona_id="p", intent_context={"k": ContextEntry("1"), "l": ContextEntry("2")})
    now = Session(lang="en", intent_context={"k": ContextEntry("1")})
    current = base.replace(site_id="s", intent_context={"l": ContextEntry("2"), "m": ContextEntry("3")})

    assert three_way_merge(current, base, now) == Session(
        lang="en", site_id="s", intent_context={"m": ContextEntry("3")}
    )
    assert three_way_merge(current, base, base) is current
    assert three_way_merge(base, base, now) is now
