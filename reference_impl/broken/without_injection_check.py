"""Without a check for header injection: a line break may write headers.

A subject or header with a line break in it is let through, and what stands behind the break is a
header of the message, a recipient perhaps (spec: O6).

Caught by `messages.fit`. Masked by: texts in one line.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..lint import Fault, Lint, LintCode
from ..parts import Parts
from ..target import ReferenceTarget
from .twin import Twin


class CredulousLint(Lint):
    """Takes every text for one line."""

    def _header_text(self, field: str, what: str, text: str) -> Iterator[Fault]:
        for fault in super()._header_text(field, what, text):
            if fault.code is not LintCode.HEADER_INJECTION:
                yield fault


twin = Twin(
    name="without_injection_check",
    safeguard="no text with a line break becomes a header",
    caught_by=("messages.fit",),
    masked_by="texts in one line",
    spec=("O6",),
)
target = ReferenceTarget(Parts(lint=CredulousLint), twin.name)
