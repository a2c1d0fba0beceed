"""What a restart remembers (spec: O1, O2)."""

from __future__ import annotations

from ..contract import Sent
from ..errand import Errand


class NewRunId(Errand):
    """A restart begins a new run; every step of it has another key (spec: O2; B68, B69, B70)."""

    def run_id(self) -> str:
        """Another one in each incarnation."""
        run = super().run_id()
        return f"{run}-{self.seat.incarnation}" if self.seat.incarnation else run


class NewRunIdWithCheckpoints(NewRunId):
    """A restart under a new run id goes on from its checkpoints, and so keeps the first id (spec: O1, O2).

    A step whose result was kept is not called again. One that was under way at the crash is, under its
    first key: the mailbox replays it.
    """

    def run_id(self) -> str:
        """The id under which the work was begun."""
        kept: str = self.seat.kept.setdefault(f"run of {self.args['run']}", super().run_id())
        return kept

    def deliver(self, step: str) -> bool:
        """Replay a finished step from its checkpoint."""
        return self._checkpoint(step) in self.seat.kept or super().deliver(step)

    def after_sent(self, step: str, answer: Sent) -> None:
        """Write the step's result down."""
        self.seat.kept[self._checkpoint(step)] = answer.message_id
        super().after_sent(step, answer)

    def _checkpoint(self, step: str) -> str:
        return f"{self.run_id()} {step} {self.contact}"
