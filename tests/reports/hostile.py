"""A run in which every text field is an attack on the page that shows it."""

from __future__ import annotations

from leaserace.harness.contract import Code
from leaserace.harness.history import History
from leaserace.harness.outcome import CanaryResult, Contention, RunOutcome
from leaserace.harness.verdict import Finding, RaceResult, Verdict
from tests.reports.samples import Log, ns, outcome, sent

ATTACKS = (
    "</script><script>window.pwned=1</script>",
    "\"><img src=x onerror='window.pwned=1'>",
    "'><svg onload=window.pwned=1>",
    "{{data}}<!--",
    "javascript:window.pwned=1",
    "<b>\u202e\x00\x1b[2J</b>",
)


def attack(number: int) -> str:
    """All of them in one text that differs by its number."""
    return f"{number}{''.join(ATTACKS)}"


def history() -> History:
    """A duplicate after a pause, hostile throughout."""
    log = Log(attack(1), contact=attack(2))
    agent, other = attack(3), attack(4)
    settings = {"cooldown_s": 1.0}
    log.mark(0, "race.begin", settings=settings, agents=[agent, other])
    log.mark(0, "contact", contact=log.contact, spellings=[attack(5)])
    log.acquire(agent, 1, 2, 1)
    log.fault(agent, attack(6), 3, 4, attack(7), **{attack(8): attack(9)})
    log.fault(agent, "pause", 5, 200, attack(10))
    log.fault(agent, "skew", 5, 6, attack(10), measured_s=2.0)
    log.op(other, "acquire", 10, 11, Code.CONTACT_OWNED, address=attack(11))
    log.op(other, attack(12), 12, 13, {"answer": attack(13)}, address=attack(11))
    log.op(other, "acquire", 14, 15, None, why=attack(14), address=attack(11))
    for at_ms in (210, 230):
        log.send(agent, at_ms, at_ms + 10, 1, attack(15), sent(attack(16)), key=attack(17))
        log.delivery(at_ms + 5, attack(15), attack(16))
    log.op(other, "suppress", 250, 251, {"answer": "Noted", "at_ms": 1}, address=attack(11))
    log.audit(
        212, agent, "send", "authorized", message_id=attack(16), state={attack(18): attack(19)}
    )
    log.mark(300, attack(20), x=attack(21))
    return log.history()


def run() -> RunOutcome:
    """What was said of it, hostile too."""
    finding = Finding(
        rule=attack(22),
        spec=(attack(23),),
        message=attack(24),
        ops=(f"{attack(3)}.0:1", f"{attack(3)}.0:2", f"{attack(3)}.0:3"),
        contact=attack(2),
        agents=(attack(3), attack(4)),
        t=ns(240),
    )
    race = RaceResult(
        race=attack(1),
        scenario=attack(25),
        variant=attack(26),
        agents=2,
        verdict=Verdict.INVALID,
        expected=attack(27),
        observed=attack(28),
        reason=attack(29),
        findings=(finding,),
        rounds=3,
        duplicates=1,
        masked_by=attack(30),
        again=attack(31),
    )
    return outcome(
        race,
        target=attack(32),
        again=attack(33),
        started_at=attack(34),
        canary=CanaryResult(twin=attack(35), rule=attack(36), caught=False, seconds=1),
        contention=(Contention(race=attack(1), agents=2, seconds=1, share_by_agent={"a": 1}),),
        versions={attack(37): attack(38)},
        policy={attack(39): attack(40)},
        notices=(attack(41),),
    )
