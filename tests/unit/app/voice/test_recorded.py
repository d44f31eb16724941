"""A recording for a microphone, and a loudspeaker that keeps what it is to play."""

from __future__ import annotations

from hark.app.voice.sound_files import CollectingPlayer, RecordedMicrophone
from hark.model import Audio


async def test_a_recording_is_listened_to_in_pieces_once_it_may_begin() -> None:
    recorded = RecordedMicrophone(Audio(bytes(2 * 8_000), 8_000))
    recorded.go.set()
    pieces = [piece async for piece in recorded.blocks()]
    assert sum(map(len, pieces)) == 2 * 16_000
    assert {len(piece) for piece in pieces} == {3_200}


async def test_everything_that_was_played_is_kept_in_one_piece() -> None:
    kept = CollectingPlayer()
    assert kept.whole() is None
    await kept.play(Audio(b"\1\0" * 8_000, 8_000))
    await kept.play(Audio(b"\2\0" * 16_000, 16_000))
    whole = kept.whole(pause=0.5)
    assert whole is not None
    assert (whole.sample_rate, whole.seconds) == (16_000, 2.5)
