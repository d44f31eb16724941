"""What is loaded, in which order it would run and why, and what is not loaded and why."""

from hark.app.doctor.examine import examine
from hark.app.doctor.render import render
from hark.app.doctor.report import Report

__all__ = ["Report", "examine", "render"]
