"""The second pass over a log: judge one shard's contacts, each alone, and forget it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from ..contract import Settings
from ..history import AnyEvent, encode
from ..rules.base import COUNTS, FINDINGS_A_RULE_MAX, Judge, RaceInfo
from ..verdict import Finding
from .build import Builder
from .doubt import Doubt
from .fields import stored_fields
from .mapping import Mapping
from .raw import RawLines
from .records import Record, record_type
from .rules import arrived_before
from .skew import Offset
from .spill import Ordered
from .support import Facts, capabilities, rules_for
from .trace import Traced, Tracer
from .triage import Triage
from .twice import Twice

TRACED_MAX = 500


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """What a log is judged by; the same for all its shards.

    Args:
        mapping: What its fields are.
        resolution_ns: What every time is a multiple of.
        offsets: Agent to how far its clock was ahead.
        lease_ms: The longest lease, or None if it is not known.
        lease_varies: Whether leases are of several lengths.
        identity: Name of the identity function.
        last_ns: Time of the last line.
        whole: Whether all events are kept, and all contacts given to the rules.
        events_kept: Events of contacts with findings that one shard keeps for the report.
    """

    mapping: Mapping
    resolution_ns: int
    offsets: dict[str, Offset]
    lease_ms: int | None
    lease_varies: bool
    identity: str
    last_ns: int
    whole: bool
    events_kept: int

    def facts(self) -> Facts:
        """What the log holds, for the choice of rules."""
        return Facts(
            mapping=self.mapping,
            lease_known=self.lease_ms is not None,
            lease_varies=self.lease_varies,
            identity=self.identity,
        )

    def info(self) -> RaceInfo:
        """What the rules must know."""
        told = self.mapping.settings
        settings = Settings(
            lease_s=60.0 if self.lease_ms is None else self.lease_ms / 1000,
            cooldown_s=told.cooldown_s or 0.0,
            key_window_s=told.key_window_s,
        )
        return RaceInfo(settings=settings, capabilities=capabilities(self.facts()))


class Judged(msgspec.Struct, kw_only=True):
    """What was found in some shards.

    Args:
        contacts: How many contacts were judged.
        plain: How many of them were plainly in order.
        findings: At most `FINDINGS_A_RULE_MAX` a rule.
        traced: The lines and states behind the first of them.
        left_out: Rule to how many more it had; ``kept``, how many of it are in `findings`.
        exercised: Rule to how often it had something to judge.
        unknown: Why something could not be judged.
        assumed: What had to be assumed, and how often.
        counts: Duplicates, double contacts, late hand-overs.
        events: How many events were kept.
        cut: How many contacts with findings were left out of the kept events.
    """

    contacts: int = 0
    plain: int = 0
    findings: list[Finding] = []
    traced: list[Traced] = []
    left_out: dict[str, int] = {}
    kept: dict[str, int] = {}
    exercised: dict[str, int] = {}
    unknown: list[str] = []
    assumed: dict[str, int] = {}
    counts: dict[str, int] = {}
    events: int = 0
    cut: int = 0

    def has_room(self, rule: str) -> bool:
        """Whether another finding of this rule is kept."""
        return self.kept.get(rule, 0) < FINDINGS_A_RULE_MAX

    def take(self, finding: Finding) -> None:
        """Keep a finding, or count it."""
        rule = finding.rule
        if self.has_room(rule):
            self.kept[rule] = self.kept.get(rule, 0) + 1
            self.findings.append(finding)
        else:
            self.left_out[rule] = self.left_out.get(rule, 0) + 1

    def merge(self, other: Judged) -> None:
        """Take in what was found in other shards."""
        for finding in other.findings:
            self.take(finding)
        self.traced = [*self.traced, *other.traced][:TRACED_MAX]
        for name in ("left_out", "exercised", "assumed", "counts"):
            mine = Counter(getattr(self, name))
            mine.update(getattr(other, name))
            setattr(self, name, dict(mine))
        self.unknown = list(dict.fromkeys([*self.unknown, *other.unknown]))
        self.contacts += other.contacts
        self.plain += other.plain
        self.events += other.events
        self.cut += other.cut


class ShardJudge:
    """Judges shards of one log.

    Args:
        path: The log.
        terms: What it is judged by.
        folder: Where it may make files.
    """

    def __init__(self, path: Path, terms: Terms, folder: Path) -> None:
        mapping = terms.mapping
        self._terms = terms
        self._folder = folder
        self._actions = list(mapping.actions().values())
        self._doubt = Doubt(mapping, terms.resolution_ns, terms.offsets)
        settled_ns = terms.last_ns - int(mapping.time.settle_s * 1e9)
        self._rules = [
            arrived_before(settled_ns) if rule.name == "sends.arrived" else rule
            for rule in rules_for(terms.facts())[0]
        ]
        self._info = terms.info()
        self._assumed: Counter[str] = Counter()
        self._raw = RawLines(path, mapping)
        self._tracer = Tracer(self._raw, path.name, mapping)
        self._twice = Twice(
            self._raw, self._doubt, has_ids=mapping.has("record_id"), assumed=self._assumed
        )
        self._builder = Builder(
            mapping=mapping,
            actions=self._actions,
            doubt=self._doubt,
            lease_ms=terms.lease_ms,
            assumed=self._assumed,
        )
        self._kind = record_type(stored_fields(mapping))
        self._by_commit = mapping.has("seq")
        self._tells_state = bool(mapping.state.fields)

    def _names(self) -> set[str]:
        return {rule.name for rule in self._rules}

    def close(self) -> None:
        """Give the log back."""
        self._raw.close()

    def judge(self, parts: Sequence[tuple[Path, int]], kept: Path) -> Judged:
        """Judge all contacts of one shard.

        Args:
            parts: Its files, and how many lines of the log came before each.
            kept: Where the events to show go, as JSON Lines.
        """
        judged = Judged()
        triage = Triage(
            mapping=self._terms.mapping,
            actions=self._actions,
            rules=self._names(),
            lease_ms=self._terms.lease_ms,
            varies=self._terms.lease_varies,
        )
        self._assumed.clear()
        ordered = Ordered(parts, self._doubt.order, self._folder, self._kind)
        with kept.open("wb") as file:
            for records in ordered.contacts():
                judged.contacts += 1
                if not self._terms.whole and triage.is_plain(records):
                    judged.plain += 1
                    continue
                for event in self._contact(records, judged):
                    file.write(encode(event))
        plain = triage.exercised(self._names())
        judged.exercised = dict(Counter(judged.exercised) + plain)
        judged.assumed = dict(self._assumed)
        return judged

    def _contact(self, records: Iterable[Record], judged: Judged) -> list[AnyEvent]:
        """Judge one contact; returns its events if they are to be kept."""
        if not isinstance(records, list):
            self._take(self._judge_streaming(records), judged, ())
            return []
        mine = list(self._twice.without(records))
        builder = self._builder
        builder.learn(mine)
        events: list[AnyEvent] = list(builder.events(mine))
        builder.forget(mine[0].contact)
        judge = Judge(self._info, self._rules)
        for event in events:
            judge.feed(event)
        if self._by_commit:
            for decision in builder.decisions(mine):
                judge.feed(decision)
        judge.finish()
        found = self._take(judge, judged, mine)
        if not self._is_kept(judged, found=found):
            return []
        if self._by_commit or self._tells_state:
            state_of = self._raw.state if self._tells_state else None
            events += builder.decisions(mine, state_of)
        judged.events += len(events)
        return _in_order(events)

    def _judge_streaming(self, records: Iterable[Record]) -> Judge:
        """Judge a contact whose records do not fit; its decisions are not judged in commit order."""
        self._assumed["contact too large for commit order"] += self._by_commit
        judge, contact = Judge(self._info, self._rules), ""
        for event in self._builder.events(self._twice.without(records)):
            judge.feed(event)
            contact = contact or getattr(event, "contact", "")
        self._builder.forget(contact)
        judge.finish()
        return judge

    def _take(self, judge: Judge, judged: Judged, records: Sequence[Record]) -> bool:
        """Count what the rules said of one contact; True if they found something."""
        judgement = judge.judgement()
        wanted = [each for each in judgement.findings if judged.has_room(each.rule)]
        told = list(self._tracer.trace(wanted, records))
        left_out = Counter(judgement.left_out)
        left_out.update(each.rule for each in judgement.findings if not judged.has_room(each.rule))
        self._assumed["still on its way at the end"] += sum(
            getattr(rule, "unsettled", 0) for rule in judge.rules
        )
        judged.merge(
            Judged(
                findings=[finding for finding, _ in told],
                traced=[traced for _, traced in told],
                left_out=dict(left_out),
                exercised=dict(judgement.exercised),
                unknown=list(judgement.unknown),
                counts={name: getattr(judgement, name) for name in COUNTS},
            )
        )
        return bool(judgement.findings) or judgement.duplicates > 0

    def _is_kept(self, judged: Judged, *, found: bool) -> bool:
        if self._terms.whole:
            return True
        if found and judged.events >= self._terms.events_kept:
            judged.cut += 1
            return False
        return found


def _in_order(events: list[AnyEvent]) -> list[AnyEvent]:
    """The events with times that never go back, as a history wants them.

    Only what is shown is changed, and only where the log's clock went back.
    """
    made: list[AnyEvent] = []
    latest_ns = 0
    for event in events:
        if event.t < latest_ns:
            made.append(msgspec.structs.replace(event, t=latest_ns))
        else:
            latest_ns = event.t
            made.append(event)
    return made


__all__ = ["Judged", "ShardJudge", "Terms"]
