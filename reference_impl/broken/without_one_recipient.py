"""Without one recipient: a header may name others.

A message with a Cc or Bcc header is let through, and reaches people for whom no lease, list or
cooldown was looked at (spec: O6, S1).

Caught by `messages.fit`. Masked by: messages without such headers.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lint import Fault, Lint, LintCode
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class GenerousLint(Lint):
    """Lets anybody be copied in."""

    def _header(self, name: str, value: str) -> Iterator[Fault]:
        for fault in super()._header(name, value):
            if fault.code is not LintCode.SEVERAL_RECIPIENTS:
                yield fault


twin = Twin(
    name="without_one_recipient",
    safeguard="a message goes to one recipient",
    caught_by=("messages.fit",),
    masked_by="messages without such headers",
    spec=("O6", "S1"),
)
target = ReferenceTarget(Parts(lint=GenerousLint), twin.name)
