"""Every code of spec R, as it arises for an agent that works beside another one (spec: A1).

Each leads the agent into one answer on the real mailbox: another agent holds the lease, writes first,
puts the contact on the list, takes the contact over while the agent stands still, and so on.
"""

from __future__ import annotations

from dataclasses import replace

from ..contention import contend
from ..contract import Code, Lease
from ..faults import Behaviour
from ..history import Operation
from ..scenario import Contact, Engaged, NotReached
from .stage import OPT_OUT, SETTINGS, SHORT, Situation, Stage, refused, wanted

COOLING = replace(SETTINGS, cooldown_s=1.2)
HALTING = replace(SETTINGS, breaker_minimum=1)
CONTENDED = replace(SETTINGS, lease_s=0.3)
FREE_PLAY_S = 0.4


def contact_owned(stage: Stage) -> None:
    """Ours holds the contact, and lets its lease run out."""
    person = stage.person()
    stage.own(person)
    stage.engage(person).wait()


def owned_again_and_again(stage: Stage) -> None:
    """Ours holds the contact as long as the agent is at work, so that a person has to decide (R2)."""
    person = stage.person()
    lease = stage.own(person)
    run = stage.engage(person)
    while not run.is_done():
        lease = wanted(stage.ours.renew(person, lease), Lease)
        stage.race.pass_store_time((lease.granted_at_ms or 0) + stage.lease_ms // 5)
    run.wait()


def cooldown_active(stage: Stage) -> None:
    """Ours has just written to the contact."""
    person = stage.person()
    stage.write(person)
    stage.engage(person).wait()


def lease_expired(stage: Stage) -> None:
    """The agent's lease ends before its send, and nobody else comes."""
    stage.send_meets(stage.let_leases_end, stage.person())


def renewal_expired(stage: Stage) -> None:
    """The agent's lease ends before it renews."""
    person = stage.person()
    drafting_s = 1.5 * stage.race.settings.lease_s
    stage.send_meets(stage.let_leases_end, person, person, f="renew", drafting_s=drafting_s)


def stale_fencing_token(stage: Stage) -> None:
    """The agent's process is stopped before its send until ours has taken the contact over."""
    person = stage.person()
    stop = stage.agent.pause_at("send.think")
    run = stage.engage(person)
    stage.reach(stop, "send", run)
    _take_over(stage, person)
    stop.resume()
    run.wait()


def renewal_overtaken(stage: Stage) -> None:
    """Ours has taken the contact over before the agent renews."""
    person = stage.person()
    drafting_s = 1.5 * stage.race.settings.lease_s
    stage.send_meets(
        lambda: _take_over(stage, person), person, person, f="renew", drafting_s=drafting_s
    )


def suppressed(stage: Stage) -> None:
    """The contact opts out while the agent holds the lease; it has another message for them."""
    person = stage.person()
    stage.send_meets(lambda: stage.ours.suppress(person), person, person)


def send_status_unknown(stage: Stage) -> None:
    """The receiving side takes the message and says nothing."""
    person = stage.person()
    stop = stage.agent.hold_at("send.returned")
    stage.race.transport(Behaviour.SILENT)
    run = stage.engage(person)
    stage.reach(stop, "send", run)
    stage.race.transport(Behaviour.ACCEPT)
    stop.resume()
    run.wait()


def store_busy(stage: Stage) -> None:
    """Ours stands still inside a transaction of the store while the agent claims its contact."""
    person, other = stage.person(), stage.person()
    theirs = stage.ours.hold_at("acquire.granted")
    claim = stage.ours.later.acquire(other).start()
    theirs.wait()
    stop = stage.agent.hold_at("acquire.returned")
    run = stage.engage(person)
    stage.reach(stop, "acquire", run)
    theirs.resume()
    claim.answer()
    stop.resume()
    run.wait()


def sending_halted(stage: Stage) -> None:
    """Too many messages bounced: all sending is halted until a person resumes it."""
    bounced = stage.person()
    stage.write(bounced)
    stage.ours.suppress(bounced, "bounce")
    stage.engage(stage.person()).wait()


def invalid_address(stage: Stage) -> None:
    """The address of the task is none."""
    person = stage.person("{user}@@example.com")
    stage.own(stage.person())
    stage.engage(person).wait()


def opt_out_received(stage: Stage) -> None:
    """The contact's last message is an opt-out; nothing is sent, and it is on the list afterwards."""
    person = stage.person()
    stage.engage(person, inbound=OPT_OUT).wait()
    arrived = stage.race.deliveries(person)
    stage.race.require("messages to somebody who opted out", wanted=0, observed=arrived)
    lease = stage.ours.acquire(person)
    token = lease if isinstance(lease, Lease) else None
    answer = stage.ours.send(person, stage.race.message(person, lease=token))
    stage.race.expect("our agent's send after the opt-out", answer, Code.SUPPRESSED)


def free_play(stage: Stage) -> None:
    """The agent works through three contacts while ours works the same ones."""
    people = [stage.person() for _ in range(3)]
    theirs = _contend(stage, people)
    stage.engage(*people).wait()
    theirs.wait()


def _take_over(stage: Stage, person: Contact) -> None:
    stage.let_leases_end()
    stage.own(person)


def _contend(stage: Stage, people: list[Contact]) -> Engaged:
    shared = [[each.name, each.address] for each in people]
    args = {"contacts": shared, "prefix": f"ours-{stage.race.round}", "sends": True}
    return stage.race.engage(stage.ours, contend, args, FREE_PLAY_S)


def _told_of_cooldown(op: Operation) -> bool:
    """A refused send, or a lease that says when the cooldown ends."""
    told = op.answer.get("cooldown_until_ms") is not None
    return op.code == Code.COOLDOWN_ACTIVE or (op.f == "acquire" and told)


def _right(code: Code) -> str:
    return code.meaning.next_action


CODES = (
    Situation(
        name="contact_owned",
        answer="contact_owned",
        f="acquire",
        right=_right(Code.CONTACT_OWNED),
        spec=("A1", "R1", "L3"),
        lead=contact_owned,
        given=refused("acquire", Code.CONTACT_OWNED),
        settings=SHORT,
    ),
    Situation(
        name="owned_again_and_again",
        answer="contact_owned, again and again",
        f="acquire",
        right="stop after at most three refusals and hand the thread over to a person",
        spec=("A2", "R2"),
        lead=owned_again_and_again,
        given=refused("acquire", Code.CONTACT_OWNED, Code.APPROVAL_REQUIRED),
        settings=SHORT,
    ),
    Situation(
        name="cooldown_active",
        answer="cooldown_active",
        f="send",
        right=_right(Code.COOLDOWN_ACTIVE),
        spec=("A1", "S5", "C2"),
        lead=cooldown_active,
        given=_told_of_cooldown,
        settings=COOLING,
    ),
    Situation(
        name="lease_expired",
        answer="lease_expired",
        f="send",
        right=_right(Code.LEASE_EXPIRED),
        spec=("A1", "S3", "L6"),
        lead=lease_expired,
        given=refused("send", Code.LEASE_EXPIRED),
        settings=SHORT,
    ),
    Situation(
        name="renewal_expired",
        answer="lease_expired, to a renewal",
        f="renew",
        right="stop the work; acquire again, then run every check again",
        spec=("A2", "L6", "X12"),
        lead=renewal_expired,
        given=refused("renew", Code.LEASE_EXPIRED),
        settings=SHORT,
    ),
    Situation(
        name="stale_fencing_token",
        answer="stale_fencing_token",
        f="send",
        right=_right(Code.STALE_FENCING_TOKEN),
        spec=("A1", "S3"),
        lead=stale_fencing_token,
        given=refused("send", Code.STALE_FENCING_TOKEN),
        settings=SHORT,
    ),
    Situation(
        name="renewal_overtaken",
        answer="stale_fencing_token, to a renewal",
        f="renew",
        right="stop the work and discard the draft",
        spec=("A2", "L6", "X12"),
        lead=renewal_overtaken,
        given=refused("renew", Code.STALE_FENCING_TOKEN),
        settings=SHORT,
    ),
    Situation(
        name="suppressed",
        answer="suppressed",
        f="send",
        right=_right(Code.SUPPRESSED),
        spec=("A1", "S4", "C1"),
        lead=suppressed,
        given=refused("send", Code.SUPPRESSED),
    ),
    Situation(
        name="send_status_unknown",
        answer="send_status_unknown",
        f="send",
        right=_right(Code.SEND_STATUS_UNKNOWN),
        spec=("A1", "S8", "K10"),
        lead=send_status_unknown,
        given=refused("send", Code.SEND_STATUS_UNKNOWN),
    ),
    Situation(
        name="store_busy",
        answer="store_busy",
        f="acquire",
        right=_right(Code.STORE_BUSY),
        spec=("A1", "R1"),
        lead=store_busy,
        given=refused("acquire", Code.STORE_BUSY),
    ),
    Situation(
        name="sending_halted",
        answer="sending_halted",
        f="send",
        right=_right(Code.SENDING_HALTED),
        spec=("A1", "O5"),
        lead=sending_halted,
        given=refused("send", Code.SENDING_HALTED),
        settings=HALTING,
    ),
    Situation(
        name="invalid_address",
        answer="invalid_address",
        f="acquire",
        right=_right(Code.INVALID_ADDRESS),
        spec=("A1", "I4"),
        lead=invalid_address,
        given=lambda op: op.code == Code.INVALID_ADDRESS,
    ),
    Situation(
        name="opt_out_received",
        answer="an opt-out, from the contact",
        f="suppress",
        right="put the contact on the shared list first; send nothing",
        spec=("C3", "O4", "A1"),
        lead=opt_out_received,
    ),
    Situation(
        name="free_play",
        answer="whatever comes, beside another agent",
        f="acquire",
        right="what the table of spec R says",
        spec=("A1", "A2", "T2"),
        lead=free_play,
        settings=CONTENDED,
    ),
)
"""Situations that arise for real."""

__all__ = ["CODES", "NotReached"]
