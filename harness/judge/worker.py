"""A worker: reads tasks as JSON Lines from its stdin, writes answers to its stdout, ends with stdin."""

from __future__ import annotations

import gc
import sys
import traceback

from .tasks import Done, carry_out, decode_task, encode


def main() -> None:
    """Work until there is no more to do."""
    # Rows by the million are no cycles: looking for some among them costs a tenth of the time.
    gc.set_threshold(50_000, 20, 50)
    for line in sys.stdin.buffer:
        try:
            done = carry_out(decode_task(line))
        except Exception as error:  # noqa: BLE001 - a fault of ours: the parent says so
            traceback.print_exc()
            done = Done(failed=f"{type(error).__name__}: {error}")
        sys.stdout.buffer.write(encode(done) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
