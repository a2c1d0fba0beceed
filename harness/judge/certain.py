"""Which findings hold whatever else a log might have held, where some of its lines could not be read.

A missing line can be what would excuse a finding: the delivery of a message, the release of a lease, the
grant behind a send. Only what rests on lines that are there is then said to be wrong; the rest is told as
doubt, and the verdict is at best unknown.
"""

from __future__ import annotations

from collections import Counter

from .scan import Scanned
from .shard import Judged

CERTAIN = frozenset(
    {
        "sends.once",
        "tokens.rise",
        "tokens.stale_never_sends",
        "tokens.commit_order",
        "keys.one_per_send",
        "keys.replay_is_original",
        "keys.payload_bound",
        "contacts.one_key",
        "audit.refusal_has_state",
        "people.decide",
    }
)
"""Rules whose findings no further line could excuse."""
SHOWN = 3


def is_holed(scanned: Scanned) -> bool:
    """Whether lines are missing from the middle of a log; one that is cut at its end only stops early."""
    return 0 < scanned.problems.first_line < scanned.seen.last_line


def take_doubtful(judged: Judged) -> list[str]:
    """Take the findings out that a missing line could excuse; what is said of them instead."""
    doubtful = [each for each in judged.findings if each.rule not in CERTAIN]
    counts = Counter(each.rule for each in doubtful)
    counts.update({rule: n for rule, n in judged.left_out.items() if rule not in CERTAIN})
    judged.findings = [each for each in judged.findings if each.rule in CERTAIN]
    judged.traced = [each for each in judged.traced if each.rule in CERTAIN]
    judged.left_out = {rule: n for rule, n in judged.left_out.items() if rule in CERTAIN}
    if not counts:
        return []
    told = ", ".join(f"{rule} {n:,}" for rule, n in sorted(counts.items()))
    return [
        f"What looks wrong may rest on a line that could not be read, and is not counted: {told}.",
        *(f"Perhaps: {each.rule}: {each.message}" for each in doubtful[:SHOWN]),
    ]


__all__ = ["CERTAIN", "is_holed", "take_doubtful"]
