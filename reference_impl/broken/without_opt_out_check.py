"""Without a check for the opt-out: commercial mail may lack one.

A commercial message that offers an opt-out of its own, but none that takes one click, is sent as
it is (spec: C6, O6).

Caught by `messages.fit`. Masked by: the policy's own opt-out, on messages that bring none.
"""

from __future__ import annotations

from collections.abc import Iterable

from leaserace.harness.contract import Message

from ..lint import Fault, Lint
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class LaxLint(Lint):
    """Asks for no opt-out."""

    def _opt_out(self, message: Message) -> Iterable[Fault]:  # noqa: ARG002
        return ()


twin = Twin(
    name="without_opt_out_check",
    safeguard="commercial mail carries a one-click opt-out",
    caught_by=("messages.fit",),
    masked_by="the policy's own opt-out, on messages that bring none",
    spec=("C6", "O6"),
)
target = ReferenceTarget(Parts(lint=LaxLint), twin.name)
