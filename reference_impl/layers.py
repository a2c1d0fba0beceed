"""The reference with a layer switched off, and the records of an application in front of it (spec: O1).

For measuring which layer stops which duplicate. A layer that is off does nothing at all and leaves the
others as they are:

- without the key the mailbox joins no two requests: a retry is a new one, a look-up finds nothing;
- without the lease every claim is granted and no token is compared;
- the cooldown is off where its length is 0, which the harness asks for by its settings.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from leaserace.harness.clocks import StoreClock
from leaserace.harness.contract import Environment, Refused
from leaserace.harness.points import Section

from .idempotency import Keys
from .leases import Leases, Standing
from .orchestration import Run, SentTable
from .parts import Parts
from .records import TABLES, LeaseRow
from .stores.memory import MemoryStore
from .stores.protocol import Transaction
from .target import ReferenceTarget


class UnjoinedKeys(Keys):
    """No two requests have one key: a retry is a new request, and a look-up finds nothing."""

    numbers: Iterator[int] = itertools.count(1)
    """Of the requests since the target was started."""

    def normalise(self, key: str | None) -> str:
        """The key with the number of the request."""
        return f"{super().normalise(key)}#{next(UnjoinedKeys.numbers)}"


class OpenLeases(Leases):
    """Grants every claim, takes every renewal and release, and compares nothing."""

    def _may_grant(self, lease: LeaseRow, now_ms: int) -> bool:  # noqa: ARG002
        return True

    def _may_renew(self, standing: Standing, token: int) -> Refused | None:  # noqa: ARG002
        return None

    def _may_release(self, standing: Standing, token: int) -> Refused | None:  # noqa: ARG002
        return None

    def _free(self, tx: Transaction, standing: Standing, token: int) -> None:
        """The row stays, so that whoever else works under it can renew."""
        self._noted(tx, "release", "released", standing, token)

    def check_fence(self, standing: Standing, token: int | None) -> Refused | None:  # noqa: ARG002
        """Any token will do."""
        return None

    def check_expiry(self, standing: Standing, token: int | None) -> Refused | None:  # noqa: ARG002
        """A lease never ends."""
        return None


class LayeredTarget(ReferenceTarget):
    """The reference with or without its keys and its leases.

    Args:
        key: Whether keys join the tries of one send.
        lease: Whether a lease keeps others out.
    """

    def __init__(self, *, key: bool = True, lease: bool = True) -> None:
        parts = Parts(keys=Keys if key else UnjoinedKeys, leases=Leases if lease else OpenLeases)
        off = [name for name, on in (("key", key), ("lease", lease)) if not on]
        super().__init__(parts, f"reference without {' and '.join(off)}" if off else None)

    def start(self, env: Environment) -> None:
        """Start afresh; requests are counted from one again."""
        UnjoinedKeys.numbers = itertools.count(1)
        super().start(env)


class Application:
    """What an application keeps in a store of its own: what was sent, and finished steps.

    Args:
        clock: Of its store.
    """

    def __init__(self, clock: StoreClock) -> None:
        section = Section("application")
        self._store = MemoryStore(clock, data=({kind: {} for kind in TABLES}, [], section))
        self.table = SentTable(self._store)

    def run(self, run_id: str) -> Run:
        """The run of this id, as it stands."""
        return Run(self._store, run_id)


class Reference:
    """Both for the harness, which finds it by its entry point."""

    def target(self, *, key: bool, lease: bool) -> LayeredTarget:
        """The mailbox with these of its layers."""
        return LayeredTarget(key=key, lease=lease)

    def application(self, clock: StoreClock) -> Application:
        """An application that has sent nothing yet."""
        return Application(clock)


LAYERS = Reference()
