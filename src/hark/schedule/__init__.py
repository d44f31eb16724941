"""The service `schedule`: events at instants of wall-clock time, once or again and again (SCHEDULER-1)."""

from hark.schedule.record import Schedule
from hark.schedule.scheduler import ScheduleOptions, Scheduler
from hark.schedule.store import FileStore, MemoryStore, ScheduleStore

__all__ = ["FileStore", "MemoryStore", "Schedule", "ScheduleOptions", "ScheduleStore", "Scheduler"]
