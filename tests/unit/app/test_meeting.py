"""Where the rooms meet."""

from __future__ import annotations

from hark.app.meeting import meeting_of
from hark.app.settings import settings_from

BOTH = {"bus": {"url": "ws://here/core"}, "nats": {"servers": ["nats://user:secret@a:1", "tls://b:2"], "prefix": "x."}}


def test_at_the_bus_unless_nats_servers_are_named() -> None:
    meeting = meeting_of(settings_from({"bus": BOTH["bus"]}), None)
    assert (str(meeting), meeting.is_nats) == ("ws://here/core", False)
    meeting = meeting_of(settings_from(BOTH), None)
    assert (str(meeting), meeting.is_nats) == ("a:1, tls://b:2", True)


def test_an_address_that_is_given_goes_before_the_settings() -> None:
    meeting = meeting_of(settings_from(BOTH), "ws://there/core")
    assert (str(meeting), meeting.is_nats, meeting.bus.url) == ("ws://there/core", False, "ws://there/core")
    meeting = meeting_of(settings_from(BOTH), "nats://c:3")
    assert (str(meeting), meeting.nats.servers, meeting.nats.prefix) == ("nats://c:3", ("nats://c:3",), "x.")
