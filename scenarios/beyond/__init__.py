"""Races the articles do not list, taken from public bug reports (spec: X)."""

from .late_event import late_event

__all__ = ["late_event"]
