"""A worker: reads tasks as JSON Lines from its stdin, writes answers to its stdout, ends with stdin."""

from __future__ import annotations

import sys
import traceback

from .tasks import Done, carry_out, decode_task, encode


def main() -> None:
    """Work until there is no more to do."""
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
