"""The part of a race that one image can show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaserace.harness.history import Operation
from leaserace.harness.verdict import Finding

from .picture import Picture

OPERATIONS_MAX = 400
"""Operations one image shows; beyond it shows those around the first finding, and says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The part of a race that is drawn.

    Args:
        picture: The race.
        begin_ns: Left edge.
        end_ns: Right edge.
        operations: Those inside, in order.
        left_out: How many of the race's operations are not.
        finding: The finding that is pinned, or None.
    """

    picture: Picture
    begin_ns: int
    end_ns: int
    operations: Sequence[Operation]
    left_out: int = 0
    finding: Finding | None = None

    def x(self, t_ns: int) -> float:
        """Milliseconds from the left edge."""
        return (t_ns - self.begin_ns) / 1e6

    @property
    def proof(self) -> frozenset[str]:
        """Ids of the operations that prove the pinned finding."""
        return frozenset(self.finding.ops) if self.finding is not None else frozenset()

    @property
    def width(self) -> float:
        """Milliseconds from edge to edge."""
        return self.x(self.end_ns)

    def shows(self, begin_ns: int, end_ns: int) -> bool:
        """Whether a span is inside, at least in part."""
        return begin_ns <= self.end_ns and end_ns >= self.begin_ns


def view(
    picture: Picture, findings: Sequence[Finding] = (), *, operations_max: int = OPERATIONS_MAX
) -> View:
    """The part of a race that one image can show: all of it, or what surrounds the first finding.

    Args:
        picture: The race.
        findings: Its findings; the first is pinned.
        operations_max: How many operations fit.
    """
    finding = findings[0] if findings else None
    chosen = list(picture.operations)
    if finding is not None and finding.contact:
        chosen = [op for op in chosen if op.contact == finding.contact] or chosen
    if len(chosen) > operations_max:
        first = _before(chosen, finding, operations_max) if finding is not None else 0
        chosen = chosen[first : first + operations_max]
    if not chosen:
        return View(
            picture=picture, begin_ns=picture.begin_ns, end_ns=picture.end_ns, operations=[]
        )
    begin_ns = min(op.invoked_ns for op in chosen)
    end_ns = max(op.completed_ns or op.invoked_ns for op in chosen)
    margin = max((end_ns - begin_ns) // 25, 1)
    return View(
        picture=picture,
        begin_ns=begin_ns - margin,
        end_ns=end_ns + margin,
        operations=chosen,
        left_out=len(picture.operations) - len(chosen),
        finding=finding,
    )


def _before(chosen: list[Operation], finding: Finding, operations_max: int) -> int:
    """Where to begin, so that the first of the proof stands in the middle."""
    named = set(finding.ops)
    places = [place for place, op in enumerate(chosen) if op.op in named] or [0]
    return max(0, min(places[0] - operations_max // 2, len(chosen) - operations_max))
