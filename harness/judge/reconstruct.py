"""A finding of a log as steps for the simulator and as a pytest file, and what could not be rebuilt."""

from __future__ import annotations

import pprint
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ..contract import Capability, Target, UsageError
from ..history import DeliveryEvent, History, OpEvent, OpType
from ..targets import load_target
from ..verdict import Finding
from .mapping import Mapping
from .replay import Step, agents_of
from .run import Answer
from .words import Plan, Words

MOST = 20
"""Contacts that are rebuilt, by their gravest finding."""
AGENTS_MAX = 5
STEPS_MAX = 400
LETTERS = {
    "acquire": "A",
    "renew": "N",
    "release": "L",
    "suppress": "O",
    "unsuppress": "U",
    "override": "V",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rebuilt:
    """A finding, rebuilt.

    Args:
        finding: Which.
        steps: The contact's calls, in order.
        spellings: Forms of the contact's address.
        ends: Operation to its end in the log.
        zero_ns: When the first step was.
        missing: What could not be rebuilt, one sentence each.
    """

    finding: Finding
    steps: tuple[Step, ...]
    spellings: dict[str, list[str]]
    ends: dict[str, OpEvent]
    zero_ns: int
    missing: tuple[str, ...]


def write_reconstructions(
    answer: Answer, mapping: Mapping | None, folder: Path, *, target: str = "reference"
) -> list[str]:
    """Write steps, a schedule and a pytest file for each finding.

    Args:
        answer: What the log came to.
        mapping: What its fields are; None for a history of ours, which has schedules of its own.
        folder: The run's folder.
        target: What the schedules are for, as ``--target`` names it.

    Returns:
        What was written, and what could not be rebuilt, one line each.

    Raises:
        UsageError: The target can't be loaded, or does what no simulation allows.
    """
    if mapping is None:
        return ["a history is not reconstructed from a log: its run kept its own schedules"]
    loaded = load_target(target)
    rebuilt = list(reconstructions(answer, mapping))
    if not rebuilt:
        return ["nothing to reconstruct: no finding with events"]
    parent = folder / "reconstructed"
    parent.mkdir(exist_ok=True)
    told = []
    for number, each in enumerate(rebuilt, start=1):
        lengths_s = _lengths_s(answer)
        plan = _plan(each, lengths_s)
        missing = (*each.missing, *plan.missing)
        _write_steps(parent / f"steps_{number}.json", each, missing, lengths_s[0])
        test = parent / f"test_reconstructed_{number}.py"
        test.write_text(_test_file(each, number, answer), encoding="utf-8")
        told.append(f"{test}: {each.finding.rule} on {each.finding.contact}")
        told.extend(_write_schedule(parent / f"schedule_{number}.txt", each, plan, loaded, target))
        told.extend(f"  not reconstructed: {sentence}" for sentence in missing)
    return told


def _lengths_s(answer: Answer) -> tuple[float, float]:
    """Lease and cooldown in force in the log."""
    policy = answer.outcome.policy
    return float(policy.get("lease_s") or 60.0), float(policy.get("cooldown_s") or 0.0)


def _plan(each: Rebuilt, lengths_s: tuple[float, float]) -> Plan:
    lease_s, cooldown_s = lengths_s
    words = Words(
        each.steps, each.ends, zero_ns=each.zero_ns, lease_s=lease_s, cooldown_s=cooldown_s
    )
    return words.plan()


def _write_steps(path: Path, each: Rebuilt, missing: Sequence[str], lease_s: float) -> None:
    value = {
        "rule": each.finding.rule,
        "message": each.finding.message,
        "program": program_of(each.steps, lease_s),
        "spellings": each.spellings,
        "steps": each.steps,
        "not_reconstructed": missing,
    }
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n")


def _write_schedule(
    path: Path, each: Rebuilt, plan: Plan, loaded: Target, target: str
) -> Iterator[str]:
    """The schedule, if the simulator takes it; what is said of it."""
    if not {Capability.LEASE, Capability.SEND} <= set(loaded.capabilities):
        yield f"  no schedule: {target} declares no lease or no send"
        return
    from ..simulation.explore import Nondeterministic
    from .follow import played, write_schedule

    try:
        play = played(plan, loaded, each.ends)
    except (UsageError, Nondeterministic) as error:
        yield f"  no schedule: {error}"
        return
    finding = _comment(f"{each.finding.rule} in a log: {each.finding.message}"[:200])
    yield from write_schedule(path, play, target=target, finding=finding)


def reconstructions(answer: Answer, mapping: Mapping) -> Iterator[Rebuilt]:
    """One for each contact that has a finding, the gravest first."""
    done: set[str] = set()
    findings = [finding for race in answer.outcome.races for finding in race.findings]
    for finding in findings:
        if not finding.contact or finding.contact in done or len(done) >= MOST:
            continue
        done.add(finding.contact)
        events = list(_events_of(answer.history, finding.contact))
        if events:
            yield _rebuilt(finding, events, answer, mapping)


def _events_of(history: History, contact: str) -> Iterator[OpEvent]:
    for event in history:
        if isinstance(event, OpEvent) and event.contact == contact:
            yield event


def _rebuilt(
    finding: Finding, events: Sequence[OpEvent], answer: Answer, mapping: Mapping
) -> Rebuilt:
    until_ns = max(finding.t, *(event.t for event in events if event.op in finding.ops), 0)
    mine = [event for event in events if event.t <= until_ns or event.op in finding.ops]
    missing = list(_missing(mine, mapping))
    if len(mine) > STEPS_MAX:
        mine = mine[-STEPS_MAX:]
        missing.append(f"calls before the last {STEPS_MAX} lines of the contact were left out")
    addresses = list(dict.fromkeys(filter(None, map(_address, mine))))
    forms = [_form(address) for address in addresses] or ["{user}@example.com"]
    unique = list(dict.fromkeys(forms))
    places = {address: unique.index(_form(address)) for address in addresses}
    steps = tuple(_steps(mine, places))
    if len(agents_of(steps)) > AGENTS_MAX:
        missing.append(f"more than {AGENTS_MAX} agents act: a race seats no more")
    if any(isinstance(event, DeliveryEvent) for event in answer.history):
        missing.append(
            "what the transport and the receiving side did: their deliveries are judged, not replayed"
        )
    return Rebuilt(
        finding=finding,
        steps=steps,
        spellings={"contact": unique},
        ends={event.op: event for event in mine if event.type is not OpType.INVOKE},
        zero_ns=mine[0].t,
        missing=tuple(missing),
    )


def _address(event: OpEvent) -> str:
    value = event.value.get("message") or event.value
    return str(value.get("address") or value.get("to") or "")


def _form(address: str) -> str:
    """The form of an address, its local part replaced by a fresh one in the same case."""
    local, _, domain = address.strip().rpartition("@")
    local = local.rpartition("<")[2]
    domain = domain.rstrip(">").replace("{", "").replace("}", "")
    if not re.fullmatch(r"[A-Za-z0-9.-]+\.[A-Za-z0-9-]+", domain):
        domain = "example.com"
    tag = "+tag" if "+" in local else ""
    if local.isupper():
        return f"{{USER}}{tag}@{domain}"
    return f"{{user}}{tag}@{domain}" if local.islower() else f"{{User}}{tag}@{domain}"


def _steps(events: Sequence[OpEvent], places: dict[str, int]) -> Iterator[Step]:
    """Calls in order; one that nothing came between is one step."""
    zero_ns = events[0].t
    ends = {event.op: event for event in events if event.type is not OpType.INVOKE}
    tokens: dict[int, str] = {}
    for place, event in enumerate(events):
        at_ms = (event.t - zero_ns) // 1_000_000
        if event.type is not OpType.INVOKE:
            if event.f == "acquire" and event.type is OpType.OK:
                tokens[int(event.value.get("token") or 0)] = event.op
            before = events[place - 1]
            if before.op != event.op:
                yield Step(at_ms=at_ms, op=event.op, agent=event.agent, f=event.f, do="end")
            continue
        end = ends.get(event.op)
        at_once = place + 1 < len(events) and events[place + 1].op == event.op
        lost = end is None or end.type is OpType.INFO
        do = "call" if at_once or end is None else "begin"
        step = _step(event, tokens, places)
        yield msgspec.structs.replace(step, at_ms=at_ms, do=do, lost=lost)


def _step(event: OpEvent, tokens: dict[int, str], places: dict[str, int]) -> Step:
    """The call that an invoke begins."""
    message = event.value.get("message") or {}
    token = message.get("token") or event.value.get("token")
    return Step(
        at_ms=0,
        op=event.op,
        agent=event.agent,
        f=event.f,
        spelling=places.get(_address(event), 0),
        lease=tokens.get(token or 0, ""),
        message=str(message.get("intent") or ""),
        key=str(message.get("key") or ""),
        kind=str(message.get("kind") or "commercial"),
    )


def program_of(steps: Iterable[Step], lease_s: float) -> str:
    """The same calls as the simulator's programs, a word an agent: it searches their orders.

    Args:
        steps: In order.
        lease_s: Length of a lease; an agent that stood still so long waits in its program too.
    """
    words: dict[str, str] = {}
    sent: dict[str, str] = {}
    last_ms: dict[str, int] = {}
    for step in steps:
        if step.do == "end":
            continue
        if step.at_ms - last_ms.get(step.agent, step.at_ms) >= lease_s * 1000:
            words[step.agent] += "X"
        last_ms[step.agent] = step.at_ms
        letter = LETTERS.get(step.f, "")
        if step.f == "send":
            letter = "R" if sent.get(step.agent) == step.message else "S"
            sent[step.agent] = step.message
        words[step.agent] = words.get(step.agent, "") + letter
    return "prog." + ".".join(word for word in list(words.values())[:AGENTS_MAX] if word)


def _missing(events: Sequence[OpEvent], mapping: Mapping) -> Iterator[str]:
    yield "where inside a call an agent stood still: the log tells only when calls began and ended"
    if not (mapping.has("subject") and mapping.has("body")):
        yield "the texts of the messages: they are made up, one for each logical send"
    if mapping.time.clock == "agent":
        yield "the agents' clocks: calls come in the store's order, without skew"
    if not mapping.settings.from_start:
        yield "what stood in the store before the log began"
    implied = sum(event.op.endswith("-9") and event.type is OpType.INVOKE for event in events)
    if implied:
        yield f"when {implied} sends were made that only their deliveries tell of"
    if any(event.type is OpType.INFO for event in events):
        yield "why an outcome was unknown: the reply is lost here, after the call was carried out"
    leaseless = any(
        event.f == "send"
        and event.type is OpType.INVOKE
        and event.value["message"]["token"] is None
        for event in events
    )
    if leaseless and any(event.f == "acquire" for event in events):
        yield "leases of sends that carry no token"


def _test_file(each: Rebuilt, number: int, answer: Answer) -> str:
    """The pytest file. All that comes from the log stands in it as literals, never as code."""
    outcome, finding = answer.outcome, each.finding
    needs = sorted(_needs(each.steps))
    policy = outcome.policy
    agents = max(2, len(agents_of(each.steps)))
    title = ascii(f"{outcome.target}: {finding.message}"[:300])
    steps = pprint.pformat(
        [msgspec.to_builtins(step) for step in each.steps], width=96, sort_dicts=False
    )
    missing = "".join(f"# - {_comment(sentence)}\n" for sentence in each.missing)
    return f'''"""Rebuilt from a log by `leaserace judge --reconstruct`; see TITLE.

pytest --leaserace-target MODULE:TARGET --leaserace-engine simulation --leaserace-agents {agents} \\
    THIS_FILE::reconstructed_{number}
"""

from leaserace.harness.contract import Capability, Settings
from leaserace.harness.judge.replay import play
from leaserace.harness.scenario import Race, scenario

TITLE = {title}

# Not reconstructed:
{missing}
SPELLINGS = {each.spellings!a}

STEPS = {_ascii(steps)}


@scenario(
    number={1000 + number},
    title=TITLE,
    spec={finding.spec!a},
    expected="no rule is broken ({_comment(finding.rule)} was, in the log)",
    needs={{{", ".join(f"Capability.{name.upper()}" for name in needs)}}},
    settings=Settings(
        lease_s={float(policy.get("lease_s") or 60.0)},
        cooldown_s={float(policy.get("cooldown_s") or 0.0)},
        key_window_s={float(policy.get("key_window_s") or 86_400.0)},
    ),
)
def reconstructed_{number}(race: Race) -> None:
    """The calls of the log, in its order; the rules judge what comes of them."""
    play(race, STEPS, SPELLINGS)
'''


def _needs(steps: Iterable[Step]) -> set[str]:
    needs = {str(Capability.SEND)}
    for step in steps:
        if step.f in {"acquire", "renew", "release"}:
            needs.add(str(Capability.LEASE))
        if step.f in {"suppress", "unsuppress"}:
            needs.add(str(Capability.SUPPRESS))
        if step.f == "override":
            needs.add(str(Capability.OVERRIDE))
    return needs


def _comment(text: str) -> str:
    """Text that may stand in a comment or a string: letters, digits and plain signs only."""
    return re.sub(r"[^\w .,:()-]", "?", ascii(text)[1:-1])


def _ascii(text: str) -> str:
    return text.encode("ascii", "backslashreplace").decode()


__all__ = ["Rebuilt", "program_of", "reconstructions", "write_reconstructions"]
