"""Ways in which a lease is kept wrongly (spec: A1, A2, C3, L6)."""

from __future__ import annotations

from ..contract import Answer, Code, Lease, Message, Refused, Sent
from ..errand import Errand, is_unknown

BEATS = 4
"""How often a detached timer renews; more than one lease length together."""
BEATS_A_LEASE = 3
MARGIN_S = 0.01
"""How long after its end a lease is worked under."""
LOST = frozenset({Code.LEASE_EXPIRED, Code.STALE_FENCING_TOKEN, Code.NOT_HOLDER})
"""Refusals that say that the lease is gone."""


class OldToken(Errand):
    """It works past its lease, is refused, and sends again with the token it had (spec: A1, S3).

    As holders do that never learn they lost it (B5, B6, B9, B12). A mailbox that judges the token
    refuses each try.
    """

    def think(self) -> None:
        """Draft until the lease has ended."""
        if self.tries == 0:
            self.seat.wait_s(self.seat.settings.lease_s + MARGIN_S)

    def deliver(self, step: str) -> bool:
        """Try at least twice."""
        self.patience = max(2, self.patience)
        return super().deliver(step)

    def hold(self) -> bool:
        """What was once granted is taken for held."""
        return self.lease is not None or self.claim()

    def may_try_again(self, answer: Answer) -> bool:
        """A lost lease is no reason to stop."""
        if isinstance(answer, Refused) and answer.code in LOST:
            return True
        return super().may_try_again(answer)


class DetachedRenewal(Errand):
    """A timer renews the lease although the work is done or stands still (spec: A2, L6; B14).

    Nobody else reaches the contact meanwhile. No mail is doubled.
    """

    def release(self) -> None:
        """The timer goes on a while before the lease is given back."""
        if self.lease is not None:
            for _ in range(BEATS):
                self.seat.wait_s(self.seat.settings.lease_s / BEATS_A_LEASE)
                if not self.seat.running() or not self.renew():
                    break
        super().release()


class IgnoresFailedRenewal(Errand):
    """It renews before the send, is refused, and sends all the same (spec: A2, L6, X12; B8, B13, B17)."""

    def think(self) -> None:
        """Draft until the lease has ended, then renew it."""
        if self.tries == 0:
            self.seat.wait_s(self.seat.settings.lease_s + MARGIN_S)
            self.renew()

    def renew(self) -> bool:
        """Whatever the answer is, the lease is taken for held."""
        assert self.lease is not None
        token = self.lease.token
        answer = self.seat.call("renew", self.contact, address=self.address, token=token)
        if isinstance(answer, Lease):
            self.lease = answer
        return True


class OptOutLate(Errand):
    """The contact asks for silence; the lease is released first, the list written after (spec: C3, O4).

    In between the next agent writes to somebody who has opted out, and a crash there loses the opt-out
    for good (B96, B97, B98). Each message of this agent is answered with an opt-out.
    """

    def call_send(self, message: Message) -> Answer:
        """The opt-out comes in as the answer to whatever may have left."""
        answer = super().call_send(message)
        self.opted_out = isinstance(answer, Sent) or is_unknown(answer)
        return answer

    def after_sent(self, step: str, answer: Sent) -> None:
        """Known already."""

    def give_back(self) -> None:
        """In the wrong order."""
        self.release()
        if self.opted_out:
            self.seat.wait_s(MARGIN_S)
        self.write_opt_out()
