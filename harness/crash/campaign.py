"""Many sends and other calls, each of whose callers is killed at a drawn point (spec: S8, K10, X4, X9)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..clocks import monotonic_ns
from ..contract import Capability, Lease, Settings
from ..faults import Behaviour
from ..scenario import Actor, NotReached, Race, Scenario, Variant
from .errand import End, Errand
from .strike import ANSWERED, ANY, DIED, Deck, kit_points, passes, strike
from .trials import TRIALS, Trial

RANDOM = Variant(name="random points")
CANARY = Variant(name="handed over", points=frozenset({"send.handed_over"}))
OPT_OUT = Variant(name="opt-out told", needs=frozenset({Capability.SUPPRESS}))
CANARY_KILLS = 4
BATCH = 100
"""Kills after which the deadlines of sends are waited for together."""
SEND = "send"
CALLS = (SEND, *TRIALS)
"""Calls inside which an agent is killed; every second one is a send."""
AGAIN = 0.25
"""Share of the retries that are killed too."""
SILENT = 0.1
"""Share of the killed sends to which the receiving side gives no reply besides."""
BLIND = 0.25
"""Share of the retries that nobody looks the key up for: a mailbox must stand that too (spec: K10)."""
CANARIES = {CANARY.name: SEND, OPT_OUT.name: "suppress"}
"""Variants that a broken twin is fed to first, and the call it is killed in."""
SETTINGS = Settings(
    lease_s=60.0,
    cooldown_s=0.0,
    transport_timeout_s=0.4,
    store_deadline_s=0.25,
    keep_rows_s=0.0,
)
MARK = "killed.send"
"""Of one send whose sender was killed: its key, where, how it ended, what arrived."""
CALL_MARK = "killed.call"
"""Of another call whose caller was killed: which, where, what became of it."""
STEP_S = 0.2
"""Between two look-ups of what is not settled yet."""
PATIENCE = 4.0
"""How many times the lengths in force a send may take to be settled."""


@dataclass(slots=True, kw_only=True)
class Campaign:
    """The script of a kill campaign; one round is a batch of calls.

    Args:
        kills: Calls whose caller is killed, at least once each.
        calls: Which calls; those the target has if empty.
        points: Where in a call; probed in the first round if empty.
        declared: Points a target declares, of which those that a call passes are taken.
        silent: Share of the killed sends whose message is taken without a reply.
        blind: Share of the tries that come without a look-up before them.
        tell: Told how far it is.
    """

    kills: int
    calls: Sequence[str] = ()
    points: Sequence[str] = ()
    declared: Sequence[str] = ()
    silent: float = SILENT
    blind: float = BLIND
    tell: Callable[[str], None] = lambda _: None
    _calls: Deck = field(default_factory=lambda: Deck(()))
    _moments: dict[str, Deck] = field(default_factory=dict)
    _last_s: dict[str, float] = field(default_factory=dict)

    @property
    def rounds(self) -> int:
        """How many batches."""
        return -(-self.kills // BATCH)

    def script(self, race: Race) -> None:
        """Kill each caller, start it again, ask, and see what is so."""
        if race.round == 0:
            self._prepare(race)
        number = min(BATCH, self.kills - race.round * BATCH)
        drawn = [self._calls.draw(race) for _ in range(number)]
        errands = {
            each: errand
            for each, f in enumerate(drawn)
            if f == SEND and (errand := _claimed(race, _agents(race, each)[0])) is not None
        }
        for each, f in enumerate(drawn):
            self.tell(f"caller {race.round * BATCH + each + 1} of {self.kills} is killed in {f}")
            if f != SEND:
                self._try(race, TRIALS[f], each)
            elif each in errands:
                self._kill(race, errands[each], self._moments[SEND].draw(race))
                self._ask(race, errands[each])
        self._settle(race, list(errands.values()))
        for errand in errands.values():
            _tell(race, errand)

    # The first round.

    def _prepare(self, race: Race) -> None:
        """Say what is killed in, how long each call takes, and which points it passes."""
        calls = self.calls or [f for f in CALLS if f == SEND or _has(race, TRIALS[f])]
        others = [f for f in calls if f != SEND]
        sends = [SEND] * max(1, len(others)) if SEND in calls else []
        self._calls = Deck((*sends, *others))
        if sends:
            self._prepare_sends(race)
        for f in others:
            self._prepare_trials(race, TRIALS[f])

    def _prepare_sends(self, race: Race) -> None:
        agent = race.agents[0]
        errand = _claimed(race, agent)
        if errand is None:
            raise NotReached("no contact could be claimed")
        begun_ns = monotonic_ns()
        errand.send(race)
        self._last_s[SEND] = 1.2 * (monotonic_ns() - begun_ns) / 1e9
        likely = () if self.points else sorted(self.declared)
        passed = [point for point in likely if _passes(race, agent, point)]
        self._moments[SEND] = self._deck(SEND, passed)

    def _prepare_trials(self, race: Race, kind: type[Trial]) -> None:
        trial = _trial(race, kind, 0)
        call = trial.call()
        if call is None:
            raise NotReached(f"nothing could be laid out for {kind.f}")
        begun_ns = monotonic_ns()
        told = call.start().answer()
        self._last_s[kind.f] = 1.2 * (monotonic_ns() - begun_ns) / 1e9
        trial.judge(told)
        known = tuple(f"{f}." for f in CALLS if f != kind.f)
        declared = () if self.points else sorted(self.declared)
        likely = [point for point in declared if not point.startswith(known)]
        passed = [
            point
            for point in likely
            if (again := _trial(race, kind, 0).call()) is not None and passes(again, point)
        ]
        self._moments[kind.f] = self._deck(kind.f, passed)

    def _deck(self, f: str, passed: Sequence[str]) -> Deck:
        return Deck(self.points or (*kit_points(f), *passed, ANSWERED, ANY))

    def _try(self, race: Race, kind: type[Trial], number: int) -> None:
        """Kill the caller of another call than a send, and see what is so."""
        trial = _trial(race, kind, number)
        call = trial.call()
        if call is None:
            return
        blow = strike(race, call, self._moments[kind.f].draw(race), self._last_s[kind.f])
        race.mark("kill", call=kind.f, contact=trial.contact.name, point=blow.moment)
        trial.moment = blow.moment
        fate = trial.judge(blow.told)
        race.mark(CALL_MARK, call=kind.f, point=blow.moment, fate=fate.value)

    def _kill(self, race: Race, errand: Errand, moment: str) -> None:
        """Kill the sender at the moment; sometimes the receiving side is silent as well."""
        silent = race.rng.random() < self.silent
        if silent:
            race.transport(Behaviour.SILENT)
        errand.die(race, moment, self._last_s[SEND])
        if silent:
            race.transport(Behaviour.ACCEPT)

    # Asking.

    def _ask(self, race: Race, errand: Errand) -> None:
        """Look up, and try again where that is right; some do without, some are killed as well."""
        blind = race.rng.random() < self.blind
        if not blind and not errand.asks(race):
            return
        if race.rng.random() < AGAIN and len(errand.deaths) == 1:
            errand.end = None
            self._kill(race, errand, self._moments[SEND].choose(race))
            if not blind and not errand.asks(race):
                return
        errand.send(race)

    def _settle(self, race: Race, errands: Sequence[Errand]) -> None:
        """Ask again until every send has ended or the time is up."""
        lengths = race.settings
        patience_s = PATIENCE * 2 * (lengths.transport_timeout_s + lengths.store_deadline_s)
        deadline = time.monotonic() + patience_s
        while left := [errand for errand in errands if not _is_over(errand)]:
            if time.monotonic() > deadline:
                break
            time.sleep(STEP_S)
            for errand in left:
                self._ask(race, errand)


def crash_scenario(campaign: Campaign) -> Scenario:
    """The kill campaign as a scenario, with the variants that broken twins are fed to first."""

    def script(race: Race) -> None:
        call = CANARIES.get(race.variant)
        if call is None:
            campaign.script(race)
        else:
            points = tuple(CANARY.points) if call == SEND else (ANSWERED,)
            Campaign(kills=CANARY_KILLS, calls=(call,), points=points).script(race)

    return Scenario(
        id="crash",
        number=1,
        title="agents are killed inside their calls",
        spec=("S8", "K2", "K10", "X4", "X9", "L3", "L4", "L6", "L7", "C1", "X17"),
        expected="each message arrives once: delivered, or unknown and then settled; what was answered holds",
        needs=_needs(campaign.calls),
        settings=SETTINGS,
        variants=(RANDOM, CANARY, OPT_OUT),
        rounds=campaign.rounds,
        windows=(DIED,),
        masked_by="a cooldown would refuse the retry",
        script=script,
        group="crash",
    )


def _needs(calls: Sequence[str]) -> frozenset[Capability]:
    """What a target must have: for the calls that are asked for, else for sends."""
    needs = {f: kind.needs for f, kind in TRIALS.items()}
    needs[SEND] = frozenset({Capability.SEND, Capability.IDEMPOTENCY})
    return frozenset[Capability]().union(*(needs[f] for f in calls or (SEND,)))


def _has(race: Race, kind: type[Trial]) -> bool:
    return kind.needs <= race.capabilities


def _agents(race: Race, number: int) -> tuple[Actor, Actor]:
    """Who is killed, and another: in turn."""
    agents = race.agents
    return agents[number % len(agents)], agents[(number + 1) % len(agents)]


def _trial(race: Race, kind: type[Trial], number: int) -> Trial:
    agent, other = _agents(race, number)
    return kind(race=race, agent=agent, other=other)


def _claimed(race: Race, agent: Actor) -> Errand | None:
    """A message to a person nobody wrote to, under a lease where there are leases."""
    contact = race.contact()
    lease = None
    if Capability.LEASE in race.capabilities:
        answer = agent.acquire(contact)
        if not race.expect(f"{agent.id}'s claim of a fresh contact", answer, Lease):
            return None
        lease = answer if isinstance(answer, Lease) else None
    return Errand(agent=agent, contact=contact, message=race.message(contact, lease=lease))


def _passes(race: Race, agent: Actor, point: str) -> bool:
    """Whether a send comes by the point."""
    errand = _claimed(race, agent)
    return errand is not None and passes(agent.later.send(errand.contact, errand.message), point)


def _is_over(errand: Errand) -> bool:
    return errand.end is not None


def _tell(race: Race, errand: Errand) -> None:
    """Compare what was said with what arrived, and write both down."""
    end = errand.end or (End.UNKNOWN if errand.unknown else End.LOST)
    arrived = race.deliveries(errand.contact)
    where = f"killed {' and '.join(errand.deaths)}"
    race.require(
        f"an end for a send whose sender was {where}", wanted=True, observed=end is not End.LOST
    )
    if end is End.UNKNOWN:
        race.require(
            f"at most one message where the outcome is unknown, {where}",
            wanted=True,
            observed=arrived <= 1,
        )
    elif end is not End.LOST:
        race.require(f"messages that arrived, sender {where}", wanted=1, observed=arrived)
    race.mark(
        MARK,
        intent=errand.message.intent,
        key=errand.message.key or "",
        points=errand.deaths,
        end=end.value,
        arrived=arrived,
    )
