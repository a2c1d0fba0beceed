"""What agents do while the process engine is measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaserace.harness import Lease, Message
from leaserace.harness.answers import message_to_json
from leaserace.harness.processes.seat import ProcessSeat
from leaserace.harness.scenario import Seat


def _messages(seat: Seat, play: Mapping[str, Any], token: int) -> Any:
    number = 0
    while seat.running():
        number += 1
        intent = f"bench.{play['name']}.{seat.id}.{number}"
        yield Message(
            to=play["address"],
            subject="Follow-up",
            body=f"Hello, this is about your request.\n\n[intent:{intent}]\n",
            token=token,
            key=f"run:{intent}:send",
            intent=intent,
        )


def send_recorded(seat: Seat, play: Mapping[str, Any]) -> None:
    """Send as fast as it goes, each call recorded."""
    lease = seat.call("acquire", play["contact"], address=play["address"])
    assert isinstance(lease, Lease), lease
    for message in _messages(seat, play, lease.token):
        seat.call("send", play["contact"], message=message)


def send_unrecorded(seat: Seat, play: Mapping[str, Any]) -> None:
    """The same without the kit; calls are counted as the kit's are."""
    assert isinstance(seat, ProcessSeat)
    mailbox = seat._agent.kit.mailbox
    lease = mailbox.acquire(play["address"])
    assert isinstance(lease, Lease), lease
    for message in _messages(seat, play, lease.token):
        message_to_json(message)
        mailbox.send(message)
        seat.calls += 1
