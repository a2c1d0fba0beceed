"""The reference with a safeguard removed that no shipped twin lacks: each makes one race fail."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from leaserace.harness.contract import (
    AgentContext,
    Lease,
    MessageKind,
    Refused,
    Sent,
    Target,
)
from leaserace.reference_impl.cooldown import Cooldown
from leaserace.reference_impl.idempotency import Draft, Keys
from leaserace.reference_impl.identity import Identity, RecipientKey
from leaserace.reference_impl.leases import Leases, Standing
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.parts import Parts
from leaserace.reference_impl.policy import Situation
from leaserace.reference_impl.records import SendRow, TimelineRow
from leaserace.reference_impl.sending import Sending
from leaserace.reference_impl.stores.protocol import Transaction
from leaserace.reference_impl.target import ReferenceTarget


class ReaderIdentity(Identity):
    """Takes letters that look alike for the same."""

    def key(self, address: str) -> RecipientKey:
        found = super().key(address)
        return replace(found, key=found.key.replace("\u043e", "o").replace("1eo@", "leo@"))


class EndlessKeys(Keys):
    """Never forgets a key."""

    def _in_window(self, row: SendRow, now_ms: int) -> bool:
        return True


class NoKeys(Keys):
    """Looks no key up."""

    def find(self, tx: Transaction, key: str) -> SendRow | None:
        return None


class RestartedKeys(Keys):
    """Knows nothing of what was sent before the restart."""

    def normalise(self, key: str | None) -> str:
        return super().normalise(key) + ".restarted"


class NoCooldown(Cooldown):
    """Leaves nobody alone."""

    def until_ms(self, timeline: TimelineRow | None, kind: MessageKind, now_ms: int) -> int | None:
        return None


class GuessingSending(Sending):
    """Takes two messages of one text for one send, whatever their keys are."""

    def _resolve_key(self, tx: Transaction, draft: Draft) -> Sent | Refused | None:
        for row in tx.rows(SendRow):
            if row.fingerprint == draft.fingerprint:
                draft = msgspec.structs.replace(draft, key=row.key)
        return super()._resolve_key(tx, draft)


class SpendingSending(Sending):
    """A replay uses a person's override up."""

    def _resolve_key(self, tx: Transaction, draft: Draft) -> Sent | Refused | None:
        known = super()._resolve_key(tx, draft)
        if known is not None:
            self._cooldown.use_override(tx, draft.contact)
        return known


class RevivingLeases(Leases):
    """Renews whatever it is asked to."""

    def _may_renew(self, standing: Standing, token: int) -> Refused | None:
        return None

    def _extend(self, tx: Transaction, standing: Standing) -> Lease:
        if standing.lease is None:
            return self._grant(tx, standing, Situation.DRAFTING)
        return super()._extend(tx, standing)


class ForgetfulTarget(ReferenceTarget):
    """A restarted agent gets keys that know nothing."""

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        self.parts = Parts(keys=RestartedKeys if agent.incarnation else Keys)
        return super().connect(agent)


LACKING: dict[str, Target] = {
    "without_difference": ReferenceTarget(Parts(identity=ReaderIdentity)),
    "without_keys": ReferenceTarget(Parts(keys=NoKeys)),
    "without_window_end": ReferenceTarget(Parts(keys=EndlessKeys)),
    "without_keys_over_restarts": ForgetfulTarget(),
    "without_cooldown": ReferenceTarget(Parts(cooldown=NoCooldown)),
    "without_separate_keys": ReferenceTarget(Parts(sending=GuessingSending)),
    "without_override_kept": ReferenceTarget(Parts(sending=SpendingSending)),
    "without_renewal_check": ReferenceTarget(Parts(leases=RevivingLeases)),
}
"""By what is missing."""
