"""Free memory is given back, and looks for garbage pass over what stays."""

from __future__ import annotations

import gc
import weakref

import pytest

from hark.hosting.heap import HeapTrimmer, SettledObjects, resident_bytes, system_trim

MB = 2**20


class Memory:
    def __init__(self) -> None:
        self.size = 20 * MB
        self.trimmed: list[int] = []

    def resident(self) -> int:
        return self.size

    def trim(self) -> None:
        self.trimmed.append(self.size)
        self.size -= 10 * MB


def test_memory_is_given_back_once_the_process_has_grown() -> None:
    memory = Memory()
    heap = HeapTrimmer(memory.resident, lambda: memory.trim)
    heap.check(0.0)
    memory.size = 40 * MB
    heap.check(5.0)
    heap.check(10.0)
    assert memory.trimmed == [], "it has not grown since it was ready"
    memory.size = 60 * MB
    heap.check(11.0)
    assert memory.trimmed == [], "it is too early to look again"
    heap.check(20.0)
    assert memory.trimmed == [60 * MB]
    heap.check(30.0)
    assert memory.trimmed == [60 * MB], "the 50 MB that are left are in use"
    memory.size = 55 * MB
    heap.check(40.0)
    assert memory.trimmed == [60 * MB, 55 * MB]


def test_a_process_that_does_not_grow_does_not_ask_for_the_function() -> None:
    def fail() -> None:
        pytest.fail("it was asked for")

    heap = HeapTrimmer(lambda: 40 * MB, fail)
    for now in range(0, 100, 10):
        heap.check(float(now))


def test_a_system_without_the_means_is_left_alone() -> None:
    asked: list[int] = []

    def resident() -> int:
        asked.append(1)
        return len(asked) * 100 * MB

    heap = HeapTrimmer(resident, lambda: None)
    for now in range(0, 100, 10):
        heap.check(float(now))
    assert len(asked) == 2


def test_the_memory_of_this_process_can_be_read_and_given_back() -> None:
    assert resident_bytes() > 5 * MB
    trim = system_trim()
    assert trim is not None
    trim()


class Ring:
    """Refers to itself: only a look for garbage finds it."""

    def __init__(self) -> None:
        self.me = self


def test_what_lived_through_a_full_look_is_spared_until_all_is_looked_at_again() -> None:
    settled = SettledObjects()
    settled.start()
    try:
        settled.check(0.0)
        ring, kept = Ring(), gc.get_freeze_count()
        gone = weakref.ref(ring)
        gc.collect()
        assert gc.get_freeze_count() > kept
        del ring
        gc.collect()
        assert gone() is not None
        settled.check(60.0)
        gc.collect()
        assert gone() is not None, "it is too early"
        settled.check(10_000.0)
        gc.collect()
        assert gone() is None
    finally:
        settled.stop()
    assert gc.get_freeze_count() == 0
