"""The lengths and limits everything else obeys, with the spec's defaults (spec: L10, C2, K5, R2)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from leaserace.harness.contract import MessageKind, Settings, UsageError

from .identity import AddressRules, address_rules

_PAGE = re.compile(r"https://[!-;=@-~]+")
_SENDER = re.compile(r"[!-?A-~]+@[a-zA-Z0-9.-]+")


class Situation(StrEnum):
    """What an agent claims a contact for; it decides the lease's length (spec: L10)."""

    DRAFTING = "drafting"
    """Renewed while the draft is open."""
    SEQUENCE_STEP = "sequence_step"
    """One step of a multi-step sequence, renewed at each."""
    REPLY = "reply"
    """A reply to an inbound message, held only while composing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What may be tuned; a policy file uses the same names.

    Args:
        drafting_s: Lease length while drafting.
        sequence_step_s: Lease length of one step of a sequence.
        reply_s: Lease length while composing a reply.
        commercial_cooldown_s: Least time from the last message to a commercial one.
        transactional_cooldown_s: The same for a transactional one; 0 lets replies skip it.
        override_s: How long a person's override waits for the send it was made for.
        load_window_s: Over which contact load is counted.
        key_window_s: How long a completed idempotency key is replayed.
        opt_out_s: How long the opt-out of a message works at least; 30 days or more (spec: C6).
        inbound_s: How long a message that came in is known when it comes in again (spec: O4).
        keep_rows_s: How long a lease that ended, and a conflict, are kept before clean-up.
        escalate_after: Refusals by one and the same lease before a person must decide.
        transport_timeout_s: How long a hand-over may take.
        absent_after_s: How long after an outcome became unknown "no such message" is believed.
        store_deadline_s: How long the store's lock is waited for.
        breaker_window_s: Over which bounces and complaints are counted (spec: O5).
        breaker_minimum: Deliveries in it before rates are judged; 0 for no circuit breaker.
        bounce_rate: Share of deliveries; more bounces than that halt all sending.
        complaint_rate: The same for complaints.
        budget_sends: What one agent may send in the window without a person; 0 for no limit.
        budget_window_s: That window.
        sender: Envelope sender; its domain also stands in Message-IDs.
        opt_out_address: Where mail that opts out goes; empty for none (spec: C6).
        opt_out_url: The page that takes one-click opt-outs; empty for none (spec: C6).
        commercial_needs_opt_out: Whether commercial mail without a one-click opt-out is refused.
        largest_message_bytes: What is larger is refused.
        people: Who may override and clear; empty means anybody who is not the calling agent.
        addresses: Domain aliases, and domains that ignore dots or tags.
    """

    drafting_s: float = 60.0
    sequence_step_s: float = 300.0
    reply_s: float = 60.0
    commercial_cooldown_s: float = 72 * 3600.0
    transactional_cooldown_s: float = 0.0
    override_s: float = 3600.0
    load_window_s: float = 7 * 86_400.0
    key_window_s: float = 86_400.0
    opt_out_s: float = 60 * 86_400.0
    inbound_s: float = 90 * 86_400.0
    keep_rows_s: float = 86_400.0
    escalate_after: int = 3
    breaker_window_s: float = 86_400.0
    breaker_minimum: int = 100
    bounce_rate: float = 0.05
    complaint_rate: float = 0.01
    budget_sends: int = 0
    budget_window_s: float = 86_400.0
    transport_timeout_s: float = 10.0
    absent_after_s: float = 60.0
    store_deadline_s: float = 0.25
    sender: str = "agents@mailbox.example.com"
    opt_out_address: str = "unsubscribe@mailbox.example.com"
    opt_out_url: str = "https://mailbox.example.com/unsubscribe"
    commercial_needs_opt_out: bool = True
    largest_message_bytes: int = 25_000_000
    people: tuple[str, ...] = ()
    addresses: AddressRules = field(default_factory=address_rules)

    def __post_init__(self) -> None:
        for name in LENGTHS:
            _check_length(name, getattr(self, name), least=MORE_THAN_ZERO.get(name, 0.0))
        for name, least in COUNTS.items():
            _check_count(name, getattr(self, name), least)
        for name in RATES:
            _check_rate(name, getattr(self, name))
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise UsageError(f"policy: {name} = {getattr(self, name)!r}: give true or false")
        _check_text("sender", self.sender, _SENDER, "an address, ASCII only")
        if self.opt_out_address != "":
            _check_text("opt_out_address", self.opt_out_address, _SENDER, "an address, ASCII only")
        if self.opt_out_url != "":
            _check_text("opt_out_url", self.opt_out_url, _PAGE, "an https address without a query")

    @property
    def send_deadline_s(self) -> float:
        """When a try's worker counts as gone: no live try takes longer (spec: S8).

        One wait for the store, the hand-over, and one wait as long for recording its outcome.
        """
        return 2 * self.transport_timeout_s + 2 * self.store_deadline_s

    def lease_ms(self, situation: Situation) -> int:
        """Length of a lease for `situation` (spec: L10)."""
        return ms(getattr(self, f"{situation}_s"))

    def cooldown_ms(self, kind: MessageKind) -> int:
        """Least time from the last message to one of `kind` (spec: C2)."""
        transactional = kind is MessageKind.TRANSACTIONAL
        return ms(self.transactional_cooldown_s if transactional else self.commercial_cooldown_s)

    def with_settings(self, settings: Settings) -> Policy:
        """The same policy with the lengths a scenario asks for."""
        asked, keep_s = settings.breaker_minimum, settings.keep_rows_s
        return replace(
            self,
            keep_rows_s=self.keep_rows_s if keep_s is None else keep_s,
            breaker_minimum=self.breaker_minimum if asked is None else int(asked),
            drafting_s=settings.lease_s,
            sequence_step_s=settings.lease_s,
            reply_s=settings.lease_s,
            commercial_cooldown_s=settings.cooldown_s,
            key_window_s=settings.key_window_s,
            transport_timeout_s=settings.transport_timeout_s,
            store_deadline_s=settings.store_deadline_s,
        )


LENGTHS = tuple(each.name for each in fields(Policy) if each.name.endswith("_s"))
MORE_THAN_ZERO = dict.fromkeys(
    ("drafting_s", "sequence_step_s", "reply_s", "transport_timeout_s"), 0.001
) | {"opt_out_s": 30 * 86_400.0}
"""Lengths that mean nothing at 0, with the least that does (spec: C6)."""
COUNTS = {
    "escalate_after": 1,
    "largest_message_bytes": 1,
    "breaker_minimum": 0,
    "budget_sends": 0,
}
"""Whole numbers, with the least that is allowed."""
RATES = ("bounce_rate", "complaint_rate")
SWITCHES = ("commercial_needs_opt_out",)
LONGEST_S = 100 * 365 * 86_400.0


def ms(seconds: float) -> int:
    """Seconds as whole milliseconds."""
    return int(seconds * 1000 + 0.5)


def load_policy(path: Path | None) -> Policy:
    """The policy of a TOML file, or the defaults without one.

    Args:
        path: A file with the names of `Policy`, an ``[aliases]`` table, and the lists
            ``ignore_dots`` and ``ignore_tags``.

    Raises:
        UsageError: It can't be read, or a key or value in it can't be used.
    """
    if path is None:
        return Policy()
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"policy {path}: {error.strerror}: name a file that can be read"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"policy {path}: not TOML: {error}") from error
    return policy_from(values)


def policy_from(values: Mapping[str, Any]) -> Policy:
    """The policy with these values, as read from a policy file.

    Raises:
        UsageError: A key or value can't be used; the message names both and the remedy.
    """
    given = dict(values)
    rules = address_rules(
        aliases=_aliases(given.pop("aliases", {})),
        ignore_dots=_texts("ignore_dots", given.pop("ignore_dots", [])),
        ignore_tags=_texts("ignore_tags", given.pop("ignore_tags", [])),
    )
    known = [each.name for each in fields(Policy) if each.name != "addresses"]
    for name, value in given.items():
        if name not in known:
            names = ", ".join([*known, "aliases", "ignore_dots", "ignore_tags"])
            raise UsageError(f"policy: unknown key {name} = {value!r}: use one of {names}")
    if "people" in given:
        given["people"] = tuple(_texts("people", given["people"]))
    return Policy(**given, addresses=rules)


def _check_length(name: str, value: object, least: float) -> None:
    """A length is a number of seconds; NaN compares with nothing and is refused too."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not least <= value <= LONGEST_S:  # type: ignore[operator]
        raise UsageError(
            f"policy: {name} = {value!r}: give seconds, from {least:g} to {LONGEST_S:g}"
        )


def _check_rate(name: str, value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= 1:  # type: ignore[operator]
        raise UsageError(f"policy: {name} = {value!r}: give a share from 0 to 1")


def _check_count(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise UsageError(f"policy: {name} = {value!r}: give a whole number of at least {least}")


def _check_text(name: str, value: object, form: re.Pattern[str], what: str) -> None:
    if not isinstance(value, str) or not form.fullmatch(value):
        raise UsageError(f"policy: {name} = {value!r}: give {what}")


def _texts(name: str, value: object) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise UsageError(f"policy: {name} = {value!r}: give a list of texts")
    return value


def _aliases(value: object) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise UsageError(f'policy: aliases = {value!r}: give a table such as "a.org" = "b.org"')
    return value
