"""A skew that did not take tests nothing: it is measured where calls are made, and in a thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from leaserace.harness.processes import wire

pytestmark = pytest.mark.process


def seen_by(script: str) -> Any:
    """Run a script in a process of its own, since a skew can't be taken back."""
    head = (
        "import datetime, json, queue, sys, threading, time\n"
        "from time import monotonic, time as bare_time\n"
        "from leaserace.harness.clocks import HostClock, SystemClock, monotonic_ns\n"
        "from leaserace.harness.processes import skew\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", head + script],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def test_a_skew_reaches_every_way_to_read_the_time() -> None:
    """spec: L5, T"""
    seen = seen_by("""
got = skew.skew(3600)
real = SystemClock().now_ms() / 1000
threaded = queue.Queue()
def read():
    threaded.put((time.time(), datetime.datetime.now().timestamp()))
threading.Thread(target=read).start()
print(json.dumps({
    "in call": got.in_call_s,
    "in thread": got.in_thread_s,
    "time": time.time() - real,
    "bare": globals()["bare_time"]() - real,
    "ns": time.time_ns() / 1e9 - real,
    "datetime": datetime.datetime.now(datetime.UTC).timestamp() - real,
    "host": HostClock().now_ms() / 1000 - real,
    "thread time": threaded.get(timeout=5)[0] - real,
}))
""")
    assert seen == {name: pytest.approx(3600, abs=0.5) for name in seen}


def test_a_clock_steps_back_and_back_again() -> None:
    """spec: T"""
    seen = seen_by("""
print(json.dumps([skew.skew(offset).in_call_s for offset in (3600, -3600, 0.5, 0)]))
""")
    assert seen == [pytest.approx(each, abs=0.25) for each in (3600, -3600, 0.5, 0)]


def test_the_monotonic_clock_and_the_harness_own_stay_real() -> None:
    """A host whose wall clock is wrong has a right monotonic one; timeouts go on working."""
    seen = seen_by("""
before = monotonic(), monotonic_ns(), time.perf_counter()
skew.skew(3600)
skew.skew(-3600)
after = globals()["monotonic"](), monotonic_ns(), time.perf_counter()
begun = time.monotonic()
threading.Event().wait(0.02)
print(json.dumps({
    "bare": after[0] - before[0],
    "ours": (after[1] - before[1]) / 1e9,
    "counter": after[2] - before[2],
    "waited": time.monotonic() - begun,
}))
""")
    assert all(0 <= value < 30 for value in seen.values()), seen
    assert seen["waited"] >= 0.02


def test_a_skewed_clock_goes_on() -> None:
    seen = seen_by("""
skew.skew(-3600)
first = time.time()
threading.Event().wait(0.05)
print(json.dumps(time.time() - first))
""")
    assert 0.05 <= seen < 5


@pytest.mark.parametrize(
    ("in_call_s", "in_thread_s", "took"),
    [(3600.1, 3599.9, True), (3600.0, 0.0, False), (0.0, 3600.0, False), (-3600.0, -3600.0, False)],
)
def test_a_skew_took_only_if_both_places_show_it(
    in_call_s: float, in_thread_s: float, *, took: bool
) -> None:
    """spec: T"""
    assert wire.Skewed(in_call_s=in_call_s, in_thread_s=in_thread_s).took(3600) is took


def test_without_a_skew_none_is_measured() -> None:
    seen = seen_by("""
got = skew.measure()
print(json.dumps([got.in_call_s, got.in_thread_s]))
""")
    assert seen == [pytest.approx(0, abs=0.25)] * 2
