"""What is known of a broken twin: the missing safeguard and the rule that must notice."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """One safeguard that is missing.

    Args:
        name: Its module, ``without_<safeguard>``.
        safeguard: What is missing, in a few words.
        caught_by: Names of rules any of which must find it.
        masked_by: What would hide it from somebody who only looks at the outcome.
        spec: Numbers of the spec it breaks.
    """

    name: str
    safeguard: str
    caught_by: tuple[str, ...]
    masked_by: str
    spec: tuple[str, ...]

    @property
    def target(self) -> str:
        """What to give as ``--target``."""
        return f"leaserace.reference_impl.broken.{self.name}:target"
