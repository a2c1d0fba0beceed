"""A process's clock, put ahead or behind by freezegun, and measured where it matters.

freezegun leaves threads on the real time by default, silently: a skewed agent whose skew did not take
tests nothing. So the skew is measured at the depth at which calls are made and in a thread, each time.
The monotonic clock stays real, as it does on a host whose wall clock is wrong.
"""

from __future__ import annotations

import sys
import threading
import time
from datetime import UTC, datetime, timedelta

import freezegun
import freezegun.api
import freezegun.config

from ..clocks import HostClock, SystemClock
from . import wire

_MUST_STAY_REAL = ("six.moves", "django.utils.six.moves", "google.gax")
"""What freezegun must not touch; `threading`, `multiprocessing` and `queue` are not among them."""
_REAL = {
    "monotonic": freezegun.api.real_monotonic,
    "monotonic_ns": freezegun.api.real_monotonic_ns,
    "perf_counter": freezegun.api.real_perf_counter,
    "perf_counter_ns": freezegun.api.real_perf_counter_ns,
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def skew(offset_s: float) -> wire.Skewed:
    """Put this process's clock ahead of the machine's (negative: behind) and measure it.

    Called again it steps the clock, backwards too, with no moment of real time between.
    """
    freezegun.config.configure(default_ignore_list=list(_MUST_STAY_REAL))
    wanted = _EPOCH + timedelta(milliseconds=SystemClock().now_ms(), seconds=offset_s)
    freezer = freezegun.freeze_time(wanted, tick=True, real_asyncio=True)
    freezer.start()
    _keep_monotonic_real(freezer)
    return measure()


def measure() -> wire.Skewed:
    """The skew of this process's clock against the machine's."""
    in_thread: list[float] = []
    thread = threading.Thread(target=lambda: in_thread.append(_seen_s()))
    thread.start()
    thread.join()
    return wire.Skewed(in_call_s=_seen_s(), in_thread_s=in_thread[0])


def _seen_s() -> float:
    """The smaller of two ways a mailbox may read its clock, so that neither may have failed."""
    real_s = SystemClock().now_ms() / 1000
    seen = (HostClock().now_ms() / 1000, time.time(), datetime.now(UTC).timestamp())
    return min((each - real_s for each in seen), key=abs)


def _keep_monotonic_real(freezer: object) -> None:
    """Undo what freezegun did to the monotonic clocks, in every module that had imported them."""
    for name, real in _REAL.items():
        setattr(time, name, real)
    reals = {id(real) for real in _REAL.values()}
    for module, attribute, original in getattr(freezer, "undo_changes", ()):
        if id(original) in reals and module in sys.modules.values():
            setattr(module, attribute, original)
