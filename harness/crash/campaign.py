"""Many sends, each of whose senders is killed at a drawn point (spec: S8, K10, X4, X9)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..clocks import monotonic_ns
from ..contract import Capability, Lease, Settings
from ..faults import Behaviour
from ..scenario import Actor, NotReached, Race, Scenario, Variant
from .errand import ANSWERED, ANY, DIED, End, Errand

RANDOM = Variant(name="random points")
CANARY = Variant(name="handed over", points=frozenset({"send.handed_over"}))
CANARY_KILLS = 4
BATCH = 100
"""Sends whose deadlines are waited for together."""
AGAIN = 0.25
"""Share of the retries that are killed too."""
SILENT = 0.1
"""Share of the killed sends to which the receiving side gives no reply besides."""
BLIND = 0.25
"""Share of the retries that nobody looks the key up for: a mailbox must stand that too (spec: K10)."""
KIT_POINTS = ("send.think", "send.invoked", "send.returned")
"""Points every target passes: the agent's own side of the call."""
SETTINGS = Settings(lease_s=60.0, cooldown_s=0.0, transport_timeout_s=0.4, store_deadline_s=0.25)
MARK = "killed.send"
"""Of one send whose sender was killed: its key, where, how it ended, what arrived."""
STEP_S = 0.2
"""Between two look-ups of what is not settled yet."""
PATIENCE = 4.0
"""How many times the lengths in force a send may take to be settled."""


@dataclass(slots=True, kw_only=True)
class Campaign:
    """The script of a kill campaign; one round is a batch of sends.

    Args:
        kills: Sends whose sender is killed, at least once each.
        points: Where; probed in the first round if empty.
        declared: Points a target declares, of which those that a send passes are taken.
        silent: Share of the killed sends whose message is taken without a reply.
        blind: Share of the tries that come without a look-up before them.
        tell: Told how far it is.
    """

    kills: int
    points: Sequence[str] = ()
    declared: Sequence[str] = ()
    silent: float = SILENT
    blind: float = BLIND
    tell: Callable[[str], None] = lambda _: None
    _deck: list[str] = field(default_factory=list)
    _send_s: float = 0.0

    @property
    def rounds(self) -> int:
        """How many batches."""
        return -(-self.kills // BATCH)

    def script(self, race: Race) -> None:
        """Kill each sender, start it again, ask, and see what arrived."""
        if race.round == 0:
            self._prepare(race)
        number = min(BATCH, self.kills - race.round * BATCH)
        errands = [
            errand
            for each in range(number)
            if (errand := _claimed(race, race.agents[each % len(race.agents)])) is not None
        ]
        for each, errand in enumerate(errands):
            self.tell(f"sender {race.round * BATCH + each + 1} of {self.kills} is killed")
            self._kill(race, errand, self._draw(race))
            self._ask(race, errand)
        self._settle(race, errands)
        for errand in errands:
            _tell(race, errand)

    # The first round.

    def _prepare(self, race: Race) -> None:
        """Measure how long a send takes, and find the points it passes."""
        agent = race.agents[0]
        errand = _claimed(race, agent)
        if errand is None:
            raise NotReached("no contact could be claimed")
        begun_ns = monotonic_ns()
        errand.send(race)
        self._send_s = 1.2 * (monotonic_ns() - begun_ns) / 1e9
        if not self.points:
            passed = [point for point in sorted(self.declared) if _passes(race, agent, point)]
            self.points = (*KIT_POINTS, *passed, ANSWERED, ANY)

    def _draw(self, race: Race) -> str:
        """The next moment: all in turn, in an order that is drawn anew each time."""
        if not self._deck:
            self._deck = list(self.points)
            race.rng.shuffle(self._deck)
        return self._deck.pop()

    def _kill(self, race: Race, errand: Errand, moment: str) -> None:
        """Kill the sender at the moment; sometimes the receiving side is silent as well."""
        silent = race.rng.random() < self.silent
        if silent:
            race.transport(Behaviour.SILENT)
        errand.die(race, moment, self._send_s)
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
            self._kill(race, errand, race.rng.choice(self.points))
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
    """The kill campaign as a scenario, with the variant that a broken twin is fed to first."""

    def script(race: Race) -> None:
        if race.variant == CANARY.name:
            Campaign(kills=CANARY_KILLS, points=tuple(CANARY.points)).script(race)
        else:
            campaign.script(race)

    return Scenario(
        id="crash",
        number=1,
        title="agents are killed inside their sends",
        spec=("S8", "K2", "K10", "X4", "X9"),
        expected="each message arrives once: delivered, or unknown and then settled",
        needs=frozenset({Capability.SEND, Capability.IDEMPOTENCY}),
        settings=SETTINGS,
        variants=(RANDOM, CANARY),
        rounds=campaign.rounds,
        windows=(DIED,),
        masked_by="a cooldown would refuse the retry",
        script=script,
        group="crash",
    )


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
    if errand is None:
        return False
    stop = agent.hold_at(point)
    pending = agent.later.send(errand.contact, errand.message).start()
    try:
        stop.wait()
    except NotReached:
        return False
    else:
        return True
    finally:
        stop.resume()
        pending.answer()


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
