"""Agents as users write them, good and bad, for ``--agent``."""

from __future__ import annotations

import os
import threading
import time

from leaserace.harness import Code, Found, Lease, Message, Refused
from leaserace.harness.agents import AgentMailbox, AgentTask, OutcomeUnknown, StopSignal
from leaserace.harness.agents.mailbox import answer_of


def careful(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Does what the table says, in one plain function."""
    for wanted in task.messages:
        if "unsubscribe" in wanted.inbound.lower():
            answer_of(lambda: mailbox.suppress(task.address, "opt-out"))
            return
        if wanted.intent in task.memory or not _write(mailbox, task, wanted.step, stop):
            return


def _write(mailbox: AgentMailbox, task: AgentTask, step: str, stop: StopSignal) -> bool:
    wanted = next(each for each in task.messages if each.step == step)
    try:
        lease = mailbox.acquire(wanted.to)
    except OutcomeUnknown:
        return False
    if not isinstance(lease, Lease):
        return False
    mail = Message(
        to=wanted.to,
        subject=wanted.subject,
        body=wanted.draft,
        token=lease.token,
        key=f"{task.run}:{wanted.step}:{wanted.to}",
    )
    done = _send(mailbox, mail)
    if done:
        task.memory[wanted.intent] = "sent"
    try:
        mailbox.release(wanted.to, lease.token)
    except OutcomeUnknown:
        return False
    return done and not stop.is_set()


def _send(mailbox: AgentMailbox, mail: Message) -> bool:
    try:
        answer = mailbox.send(mail)
    except OutcomeUnknown:
        return _is_out(mailbox, mail)
    if isinstance(answer, Refused) and answer.code is Code.SEND_STATUS_UNKNOWN:
        return _is_out(mailbox, mail)
    return not isinstance(answer, Refused)


def _is_out(mailbox: AgentMailbox, mail: Message) -> bool:
    assert mail.key is not None
    try:
        found = mailbox.lookup(mail.key)
    except OutcomeUnknown:
        return False
    return isinstance(found, Found) and found.message_id is not None


def careless(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Retries without a look-up, and knows nothing of yesterday."""
    for wanted in task.messages:
        lease = mailbox.acquire(wanted.to)
        if not isinstance(lease, Lease):
            return
        mail = Message(
            to=wanted.to,
            subject=wanted.subject,
            body=wanted.draft,
            token=lease.token,
            key=f"{task.run}:{wanted.step}:{wanted.to}",
        )
        try:
            mailbox.send(mail)
        except OutcomeUnknown:
            mailbox.send(mail)
        mailbox.release(wanted.to, lease.token)


async def careful_coroutine(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """The same as a coroutine."""
    careful(mailbox, task, stop)


def raises(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Claims the contact, then breaks down."""
    mailbox.acquire(task.address)
    message = "no model today"
    raise LookupError(message)


def idle(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Does nothing."""


def sleeps(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Claims the contact, then never comes back."""
    mailbox.acquire(task.address)
    time.sleep(60)


def spins(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Claims the contact, then turns in a circle without a call."""
    mailbox.acquire(task.address)
    while True:
        pass


def hammers(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Claims the contact without end, whatever it is told."""
    while True:
        mailbox.acquire(task.address)


def with_timer(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Renews by a thread that nobody ends."""
    lease = mailbox.acquire(task.address)
    if isinstance(lease, Lease):
        threading.Thread(target=_beat, args=(mailbox, task, lease.token), daemon=True).start()
        time.sleep(task.settings.lease_s / 2)


def _beat(mailbox: AgentMailbox, task: AgentTask, token: int) -> None:
    while True:
        time.sleep(task.settings.lease_s / 5)
        mailbox.renew(task.address, token)


def two_arguments(mailbox: AgentMailbox, task: AgentTask) -> None:
    """Takes no stop signal."""


NO_FUNCTION = 7


def from_a_thread(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Makes its only call from another thread."""
    thread = threading.Thread(target=lambda: mailbox.acquire(task.address))
    thread.start()
    thread.join()


def with_random_key(mailbox: AgentMailbox, task: AgentTask, stop: StopSignal) -> None:
    """Makes a key nobody can foresee, once."""
    lease = mailbox.acquire(task.address)
    if isinstance(lease, Lease):
        mail = Message(
            to=task.address,
            subject=task.subject,
            body=task.draft,
            token=lease.token,
            key=os.urandom(8).hex(),
        )
        mailbox.send(mail)
        mailbox.release(task.address, lease.token)
