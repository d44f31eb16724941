"""Time for tests. It is the clock that scripts are played on."""

from hark.app.script.clock import FakeClock, settle

__all__ = ["FakeClock", "settle"]
