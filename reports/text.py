"""Words for people: operations, answers, times and rates in few characters; and escaping.

Whatever comes from a history was written by the system under test. It is shown, never trusted:
`visible` makes control characters readable, so that no text can move a cursor or hide itself.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from leaserace.harness.history import Operation, OpType
from leaserace.harness.verdict import rate_upper_bound

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories with no shape of their own: controls, direction marks, surrogates."""

ID_SHOWN = 20
"""Message-IDs up to this length are shown whole."""

_MARKDOWN = frozenset("\\`*_[]|~$")


def visible(text: object, *, keep_lines: bool = False) -> str:
    """The text with every character that has no shape written as an escape.

    Args:
        text: Anything; what is no text is shown as `str` does.
        keep_lines: Leave newlines and tabs as they are.
    """
    plain = str(text)
    if plain.isprintable():
        return plain
    kept = "\n\t" if keep_lines else ""
    return "".join(
        char if char in kept or unicodedata.category(char) not in _HIDDEN else _escape(char)
        for char in plain
    )


def _escape(char: str) -> str:
    if char == "\n":
        return "\\n"
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markdown(text: object) -> str:
    """The text for a place in Markdown, a table's cell included: nothing in it is markup."""
    plain = visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + char if char in _MARKDOWN else char for char in plain)


def fenced(text: str) -> str:
    """A block of Markdown that shows the text as it is, whatever it holds."""
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{visible(text, keep_lines=True)}\n{fence}"


def short(text: object, limit: int) -> str:
    """At most `limit` characters; what was cut is marked with three dots."""
    plain = visible(text)
    return plain if len(plain) <= limit else plain[: max(0, limit - 3)] + "..."


def count(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 race``, ``4,200 races``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Iterable[str], limit: int = 4) -> str:
    """Names in a sentence: ``a, b and c``; beyond `limit` they are counted."""
    items = [visible(name) for name in names]
    if len(items) > limit:
        return f"{', '.join(items[:limit])} and {len(items) - limit} more"
    return " and ".join(filter(None, [", ".join(items[:-1]), items[-1]])) if items else ""


def milliseconds(duration_ns: int) -> str:
    """Nanoseconds as milliseconds with one decimal, ``1,204.5``."""
    return f"{duration_ns / 1e6:,.1f}"


def seconds(duration_s: float) -> str:
    """A duration for people: ``42 ms``, ``3.1 s``, ``2 min 5 s``, ``7 h 0 min``."""
    if duration_s < 1:
        return f"{duration_s * 1000:.0f} ms"
    if duration_s < 60:
        return f"{duration_s:.1f} s"
    whole = round(duration_s)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"


def percent(share: float) -> str:
    """A share of 1 as a percentage with two significant digits, never rounded down to zero."""
    value = share * 100
    if value >= 10:
        return f"{value:.0f} %"
    digits = 1
    while value > 0 and value < 10 ** (1 - digits) and digits < 9:
        digits += 1
    return f"{value:.{digits}f} %"


def rate_sentence(what: str, rounds: int) -> str:
    """What seeing none of `what` in so many rounds says of its rate, by the exact rule of three."""
    if rounds < 1:
        return ""
    bound = percent(rate_upper_bound(rounds))
    return f"0 {what} in {count(rounds, 'contended round')}: the rate is below {bound} (95 % sure)"


def call_words(op: Operation) -> str:
    """What was asked: ``send with token 41``, ``reply with token 41``."""
    args = op.args
    message = args.get("message")
    if isinstance(message, Mapping):
        args = message
    words = visible(args.get("endpoint") or op.f)
    if args.get("token") is not None:
        words += f" with token {visible(args['token'])}"
    return words


def answer_words(op: Operation) -> str:
    """What came back: ``token 42``, ``refused: stale_fencing_token``, ``no reply``."""
    if op.type is OpType.INVOKE:
        return "never answered"
    if op.type is OpType.INFO:
        return f"outcome unknown ({visible(op.code or op.answer.get('why', 'no reply'))})"
    if op.type is OpType.FAIL:
        return _refused(op)
    return _granted(op.answer)


def _refused(op: Operation) -> str:
    words = f"refused: {visible(op.code or 'no code')}"
    owner = op.answer.get("owner")
    return f"{words} (held by {visible(owner)})" if owner else words


def _granted(answer: Mapping[str, Any]) -> str:
    match answer.get("answer"):
        case "Lease":
            return f"granted token {visible(answer.get('token'))}"
        case "Sent" if answer.get("replay"):
            return f"sent before, replayed {short_id(answer.get('message_id'))}"
        case "Sent":
            return f"sent {short_id(answer.get('message_id'))}"
        case "Found":
            return f"found: {visible(answer.get('state'))}"
        case "Released":
            return "released"
        case "Taken":
            first = "taken, the first" if answer.get("first") else "taken before"
            return f"{first}, an opt-out" if answer.get("opted_out") else first
        case "Cleaned":
            return f"{visible(answer.get('rows'))} rows removed"
        case _:
            return "done"


def fault_words(fault: str, point: str, detail: Mapping[str, Any], *, begins: bool) -> str:
    """What struck: ``PAUSED at send.checked``, ``goes on``.

    Args:
        fault: Its kind.
        point: Where it was aimed, or "".
        detail: Its figures.
        begins: Whether this is its begin or its end.
    """
    where = f" at {visible(point)}" if point else ""
    match fault:
        case "pause":
            return f"PAUSED{where}" if begins else "goes on"
        case "hold":
            return f"HELD{where}" if begins else "goes on"
        case "crash":
            return f"KILLED{where}" if begins else "started again"
        case "lost_reply":
            return "its reply is LOST"
        case "slow_reply":
            return "its reply is slow" if begins else "the reply arrives"
        case "skew":
            return f"clock {skew_words(detail)}" if begins else "clock right again"
        case "transport":
            how = visible(detail.get("behaviour", "changed"))
            return f"the far end is {how}" if begins else "the far end answers again"
        case other:
            phase = "begins" if begins else "ends"
            return visible(f"{other} {phase} {fault_figures(other, detail)}").strip()


def fault_figures(fault: str, detail: Mapping[str, Any]) -> str:
    """A fault's own figures in a few words, "" if it has none."""
    if fault == "skew":
        return f"clock {skew_words(detail)}"
    return visible(", ".join(f"{name} {value}" for name, value in detail.items()))


SKEWS = {"measured_s": 1.0, "offset_s": 1.0, "skew_s": 1.0, "offset_ms": 0.001}
"""Figures of a skew, the best first, with their unit in seconds."""


def skew_words(detail: Mapping[str, Any]) -> str:
    """A measured skew: ``30.0 s ahead``, from the first figure in seconds the fault carries."""
    drift = detail.get("drift")
    if isinstance(drift, int | float) and drift:
        return f"runs at {1 + drift:g} of the speed"
    for name, unit_s in SKEWS.items():
        value = detail.get(name)
        if isinstance(value, int | float):
            value *= unit_s
            return f"{abs(value):.1f} s {'ahead' if value >= 0 else 'behind'}"
    return "skewed"


def short_id(message_id: object) -> str:
    """Enough of a Message-ID to tell two apart in a narrow column; the history has all of it.

    Args:
        message_id: As it stands in the header.
    """
    text = visible(message_id)
    local = text.strip("<>").partition("@")[0]
    return text if len(text) <= ID_SHOWN else f"<{local[:8]}...>"
