"""Guesses at what the fields, events and codes of a log mean, from their names and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..contract import Code
from .sample import Column, Sample
from .times import NoTime, Zones, parser

LONG_NAME = len("recipient")
MOST = 0.8
"""Share of the values that must look right."""
ADDRESS = re.compile(r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+|[^<>]*<[^@\s<>]+@[^@\s<>]+>")
MESSAGE_ID = re.compile(r"<[^<>\s]+@[^<>\s]+>")
FORMATS = (
    "unix_s",
    "unix_ms",
    "unix_us",
    "unix_ns",
    "iso",
    "%d/%b/%Y:%H:%M:%S %z",
    "%a, %d %b %Y %H:%M:%S %z",
    "%m/%d/%Y %H:%M:%S",
    "%d.%m.%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
)

NAMES: dict[str, tuple[str, ...]] = {
    "time": (
        "ts",
        "timestamp",
        "time",
        "at_ms",
        "at",
        "event_time",
        "occurred_at",
        "created_at",
        "logged_at",
        "datetime",
        "date",
        "t",
    ),
    "store_time": ("store_time", "server_time", "store_ts", "db_time", "decided_at", "store_at"),
    "event": ("event", "event_type", "action", "type", "op", "operation", "kind", "msg", "name"),
    "agent": (
        "agent",
        "agent_id",
        "actor",
        "worker",
        "bot",
        "client",
        "service",
        "sender_agent",
        "category",
    ),
    "recipient": ("recipient", "to", "email", "rcpt", "address", "contact", "to_email", "key"),
    "record_id": ("event_id", "sg_event_id", "record_id", "webhook_id", "log_id", "id"),
    "operation": ("request_id", "call_id", "correlation_id", "req", "operation_id", "call"),
    "seq": ("seq", "sequence", "lsn", "commit_seq"),
    "code": ("code", "result", "outcome", "decision", "status", "error", "error_code"),
    "token": ("token", "fencing_token", "fence", "lease_token"),
    "owner": ("owner", "holder", "lease_owner"),
    "expires_at": (
        "expires_at",
        "expires",
        "expires_at_ms",
        "lease_until",
        "valid_until",
        "expiry",
    ),
    "ttl_s": ("ttl_s", "ttl", "lease_seconds", "lease_s"),
    "until": ("until", "until_ms", "cooldown_until", "retry_after_at"),
    "started_at": ("started_at", "start", "begin"),
    "duration_s": ("duration_s", "elapsed_s", "took_s"),
    "idempotency_key": (
        "idempotency_key",
        "idem_key",
        "idempotencykey",
        "dedupe_key",
        "key",
    ),
    "message_id": ("message_id", "msg_id", "smtp_id", "sg_message_id", "messageid"),
    "subject": ("subject", "title"),
    "body": ("body_hash", "content_hash", "body"),
    "kind": ("message_kind", "mail_kind", "stream"),
    "replay": ("replay", "replayed", "idempotent_replay"),
    "person": ("person", "approved_by", "operator"),
}
"""Field of the mapping to the names it goes by, likeliest first."""


def column_for(field: str, sample: Sample, taken: Iterable[str]) -> Column | None:
    """The field of the log that is likely `field`, or None.

    Args:
        field: A field of the mapping.
        sample: The log's first lines.
        taken: Paths that are something else already.
    """
    fits = FITS.get(field, _always)
    used = set(taken)
    free = [each for each in sample.columns.values() if each.path not in used]
    for goes_by in (_is_called, _ends_with):
        for name in NAMES[field]:
            for column in free:
                if goes_by(column.name, name) and fits(column):
                    return column
    if field == "recipient":
        addresses = [each for each in sample.columns.values() if _are_addresses(each)]
        return max(addresses, key=lambda each: each.count, default=None)
    if field == "time":
        times = [each for each in sample.columns.values() if time_format(each)]
        return max(times, key=lambda each: each.count, default=None)
    return None


def _is_called(column: str, name: str) -> bool:
    return column == name


def _ends_with(column: str, name: str) -> bool:
    """Whether the name of a field is this one with something before it; short names say too little."""
    return len(name) >= LONG_NAME and column.endswith(f"_{name}")


def _always(_: Column) -> bool:
    return True


def _share(column: Column, holds: Callable[[Any], bool]) -> float:
    values = list(column.values)
    return sum(map(holds, values)) / len(values) if values else 0.0


def _are_addresses(column: Column) -> bool:
    return _share(column, lambda value: bool(ADDRESS.fullmatch(str(value).strip()))) >= MOST


def _are_whole(column: Column) -> bool:
    return _share(column, lambda value: str(value).strip().lstrip("-").isdecimal()) >= MOST


def _are_numbers(column: Column) -> bool:
    return _share(column, _is_number) >= MOST


def _is_number(value: Any) -> bool:
    try:
        return float(value) >= 0
    except (TypeError, ValueError):
        return False


def _are_few(column: Column) -> bool:
    return (
        0 < len(column.values) <= 60
        and _share(column, lambda value: isinstance(value, str)) >= MOST
    )


def _are_ids(column: Column) -> bool:
    return column.count > 0 and len(column.values) >= min(column.count, 200) * 0.3


def _are_message_ids(column: Column) -> bool:
    return _share(column, lambda value: bool(MESSAGE_ID.fullmatch(str(value)))) >= MOST or (
        _share(column, lambda value: isinstance(value, str) and len(value) >= 8) >= MOST
    )


def time_format(column: Column) -> str:
    """The format its values are times in, or ""."""
    for form in FORMATS:
        parse = parser(form, Zones())

        def is_time(value: Any, parse: Any = parse) -> bool:
            try:
                parse(value)
            except NoTime:
                return False
            return True

        if _share(column, is_time) >= MOST:
            return form
    return ""


def _are_times(column: Column) -> bool:
    return bool(time_format(column))


FITS: dict[str, Callable[[Column], bool]] = {
    "time": _are_times,
    "store_time": _are_times,
    "expires_at": _are_times,
    "until": _are_times,
    "started_at": _are_times,
    "event": _are_few,
    "code": _are_few,
    "agent": _are_few,
    "recipient": _are_addresses,
    "record_id": _are_ids,
    "operation": _are_ids,
    "seq": _are_whole,
    "token": _are_whole,
    "ttl_s": _are_numbers,
    "duration_s": _are_numbers,
    "message_id": _are_message_ids,
}

_METHODS: tuple[tuple[str, str], ...] = (
    (r"open|click|deferred|delay|inbound|log_?in|start_?up|health", "ignore"),
    (r"un_?suppress|re_?subscri|group_resubscribe|opt_?in", "unsuppress"),
    (r"unsub|opt_?out|suppress|spam|complain|bounce|block_?list", "suppress"),
    (r"dropped", "dropped"),
    (r"override", "override"),
    (r"deliver", "delivery"),
    (r"renew|extend|heart_?beat|keep_?alive", "renew"),
    (r"release|unlock|freed?", "release"),
    (r"lease|lock|claim|acquire", "acquire"),
    (r"send|sent|mail|message|processed|accepted|dispatch", "send"),
)
"""Words in an event's name to what it is about, the most special first."""

_PHASES: tuple[tuple[str, str], ...] = (
    (r"time_?out|timed_out|unknown|no_answer", "unknown"),
    (r"replay|dedup|duplicate", "replay"),
    (r"den[iy]|refus|reject|fail|error|conflict|lost|held|busy|taken", "fail"),
    (r"start|begin|attempt|request|asked|try|queue", "begin"),
)
"""Words in an event's name to which end of a call it is; otherwise it went well."""

_WHY = {
    "acquire": Code.CONTACT_OWNED,
    "renew": Code.LEASE_EXPIRED,
    "release": Code.NOT_HOLDER,
    "send": Code.INVALID_MESSAGE,
}
"""Why a call was likely refused, where no field tells."""

_CODE_WORDS: tuple[tuple[str, str], ...] = (
    (r"owned|locked|lease_held|conflict|busy_contact", Code.CONTACT_OWNED),
    (r"cool|too_soon|frequency", Code.COOLDOWN_ACTIVE),
    (r"stale|fenc", Code.STALE_FENCING_TOKEN),
    (r"expired", Code.LEASE_EXPIRED),
    (r"suppress|unsub|opt_?out|blocked", Code.SUPPRESSED),
    (r"not_holder|not_owner", Code.NOT_HOLDER),
    (r"in_progress|pending", Code.SEND_IN_PROGRESS),
    (r"key_reuse|payload|mismatch", Code.KEY_REUSED),
    (r"timeout|unknown", "unknown"),
    (r"replay|dedup|duplicate", "replay"),
    (r"^(ok|success|sent|granted|accepted|done|2\d\d)$", "ok"),
)


def meaning(event: str, *, has_codes: bool = False) -> str:
    """What an event of this name likely means; "" for no idea.

    Args:
        event: Its name.
        has_codes: Whether another field tells why something was refused.
    """
    text = re.sub(r"[^a-z0-9]+", "_", event.lower())
    f = _first(_METHODS, text)
    if f in {"", "ignore", "delivery"}:
        return f
    if f == "dropped":
        return f"send.fail:{Code.SUPPRESSED}"
    phase = _first(_PHASES, text) or "ok"
    if phase == "fail" and not has_codes and f in _WHY:
        return f"{f}.fail:{_WHY[f]}"
    return f"{f}.{phase}"


def _first(patterns: Iterable[tuple[str, str]], text: str) -> str:
    return next((told for pattern, told in patterns if re.search(pattern, text)), "")


def code_meaning(code: str) -> str:
    """What a code likely means; "" for no idea, or where it is ours already."""
    text = re.sub(r"[^a-z0-9]+", "_", code.lower())
    return str(_first(_CODE_WORDS, text))


__all__ = ["NAMES", "code_meaning", "column_for", "meaning", "time_format"]
