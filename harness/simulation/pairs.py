"""What hides a missing safeguard: a layer of the policy, or another safeguard (spec: the harness can fail).

Two tables. `MASKS` names the policy variant under which another layer hides a twin from somebody who only
counts mail; the rules must see through it. `PAIRS` names two twins of which each hides the other: within
the bound given, neither alone does what the rule forbids, and without both it happens. That is shown by
exhaustive search, with that rule alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..targets import load_target
from .choices import LOSE, SILENT
from .driver import Bounds
from .run import Runner
from .search import SearchResult, search
from .subjects import parse

BROKEN = "leaserace.reference_impl.broken"
AND = "_and_"

_OWN = "each spelling has a cooldown of its own"
MASKS: Mapping[str, tuple[str, str]] = {
    "without_fencing_check": ("cooldown", "the new holder's own mail sets a cooldown"),
    "without_expiry_check": ("cooldown", "a cooldown refuses the late send for another reason"),
    "without_owner_check": ("cooldown", "a cooldown refuses the foreign send"),
    "without_atomic_send": ("cooldown", "the second send meets the cooldown"),
    "without_atomic_acquire": ("cooldown", "only one of two holders can write"),
    "without_case_folding": ("cooldown", _OWN),
    "without_domain_alias": ("cooldown", _OWN),
    "without_dot_folding": ("cooldown", _OWN),
    "without_tag_folding": ("cooldown", _OWN),
    "without_release_owner": ("cooldown", "whoever comes next meets the cooldown"),
    "without_renewal_limit": ("cooldown", "a revived lease can't write twice"),
    "without_suppression_at_send": ("cooldown", "a second mail is stopped for another reason"),
    "without_second_look": ("cooldown", "a newer holder meets the cooldown that was reserved"),
    "without_key_before_delivery": ("cooldown", "the repeated send meets the cooldown"),
    "without_atomic_key": ("cooldown", "the second try meets the cooldown"),
    "without_unknown_state": ("cooldown", "the second hand-over meets the cooldown"),
    "without_lookup_of_unknown": ("cooldown", "what is sent anew meets the cooldown"),
    "without_lasting_counter": ("short-key", "fresh keys at every claim look alike"),
    "without_window_for_retry": ("cooldown", "a repeat after the window meets the cooldown"),
    "without_persons": ("plain", "without a cooldown an override changes nothing"),
    "without_strongest_refusal": ("cooldown", "one refusal stands for the other"),
}
"""Twin to the policy under which another layer hides it from somebody who only counts mail, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two twins of which each hides the other.

    Args:
        names: The twins.
        rule: What neither alone breaks, and both together do.
        subject: What runs.
        policy: Under which policy variant.
        faults: How many replies may be lost, or hand-overs not answered.
        why: How each hides the other.
    """

    names: tuple[str, str]
    rule: str
    subject: str
    policy: str
    why: str
    faults: int = 0

    @property
    def target(self) -> str:
        """What to give as ``--target``."""
        return f"{BROKEN}.pairs:{AND.join(self.names)}"

    @property
    def bounds(self) -> Bounds:
        """The bound within which neither alone does it."""
        return Bounds(faults=self.faults, kinds=frozenset({LOSE, SILENT}))


PAIRS: tuple[Pair, ...] = (
    Pair(
        names=("without_unknown_state", "without_cooldown_after_unknown"),
        rule="sends.once",
        subject="prog.ASR.W",
        policy="cooldown",
        faults=1,
        why="a retry of an unknown send meets the cooldown it reserved; a freed cooldown lets other "
        "mail pass, and the key still stops the retry",
    ),
    Pair(
        names=("without_lookup_of_unknown", "without_unknown_state"),
        rule="sends.once",
        subject="play.sales",
        policy="plain",
        faults=1,
        why="an agent that is told by a look-up that nothing left tries again, and the key stops it; "
        "a key that stops nothing is not tried again by an agent that looks up first",
    ),
    Pair(
        names=("without_cooldown_reservation", "without_release_owner"),
        rule="cooldown.no_double_contact",
        subject="prog.AS.GLAS",
        policy="cooldown",
        why="while a message is on its way nobody else gets the lease; whoever takes the lease meets "
        "the cooldown that was reserved",
    ),
    Pair(
        names=("without_persons", "without_suppression_over_override"),
        rule="suppression.wins",
        subject="prog.AOHS.W",
        policy="plain",
        why="an agent that lets itself skip the cooldown still meets the list; an override that beats "
        "the list needs a person, who knows why",
    ),
    Pair(
        names=("without_shared_keys", "without_shared_cooldown"),
        rule="sends.once",
        subject="prog.ASL.AC",
        policy="cooldown",
        why="a message sent again by a colleague meets the first one's cooldown; without that the "
        "colleague is given a replay",
    ),
    Pair(
        names=("without_key_normalisation", "without_end_of_override"),
        rule="sends.once",
        subject="prog.ASVSK.W",
        policy="cooldown",
        why="a retry under a drifted key meets the cooldown of the first try; where an override is never "
        "used up, the key still joins the two",
    ),
    Pair(
        names=("without_owner_check", "without_shared_cooldown"),
        rule="cooldown.no_double_contact",
        subject="prog.AS.GS",
        policy="cooldown",
        why="who sends under another's token meets the cooldown of the other's mail; where that binds "
        "nobody else, the lease does",
    ),
    Pair(
        names=("without_atomic_acquire", "without_shared_cooldown"),
        rule="cooldown.no_double_contact",
        subject="prog.AS.AS",
        policy="cooldown",
        why="of two holders the second meets the first one's cooldown; where that binds nobody else, "
        "there is one holder",
    ),
    Pair(
        names=("without_fencing_check", "without_shared_cooldown"),
        rule="cooldown.no_double_contact",
        subject="prog.AXS.AS",
        policy="cooldown",
        why="a stale send meets the cooldown of the new holder's mail, or sets it; where that binds nobody "
        "else, the fence stops the stale send",
    ),
)
"""Twins that hide each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFound:
    """What came of a pair.

    Args:
        pair: Which.
        alone: The search without either, by twin.
        both: The search without both.
    """

    pair: Pair
    alone: Mapping[str, SearchResult]
    both: SearchResult

    @property
    def is_caught(self) -> bool:
        """Whether both together are found."""
        return bool(self.both.found)

    @property
    def is_masked(self) -> bool:
        """Whether neither alone is, in every schedule of the bound."""
        return all(each.exhausted and not each.found for each in self.alone.values())


def pairs_with(names: Iterable[str]) -> list[Pair]:
    """The pairs in which one of these twins stands; all if none is named."""
    wanted = set(names)
    return [pair for pair in PAIRS if not wanted or wanted & set(pair.names)]


def check_pair(pair: Pair, *, seconds: float) -> PairFound:
    """Search the pair, and each of its twins alone.

    Args:
        pair: Which.
        seconds: For each of the three searches, at most.
    """
    alone = {name: _search(pair, f"{BROKEN}.{name}:target", seconds=seconds) for name in pair.names}
    return PairFound(pair=pair, alone=alone, both=_search(pair, pair.target, seconds=seconds))


def _search(pair: Pair, target: str, *, seconds: float) -> SearchResult:
    from ..rules import BY_NAME

    with Runner(load_target(target), rules=[BY_NAME[pair.rule]]) as runner:
        return search(runner, parse(pair.subject), pair.policy, pair.bounds, seconds=seconds)
