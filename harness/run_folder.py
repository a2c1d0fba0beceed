"""What a run is called: its seed and its own folder."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path

SEEDS = 1_000_000


def seed_or_drawn(seed: int | None) -> int:
    """The seed that was asked for, else one drawn by chance."""
    return secrets.randbelow(SEEDS) if seed is None else seed


def run_folder(report_dir: Path, command: str, seed: int) -> Path:
    """The folder of a run that begins now; it is not made.

    Args:
        report_dir: Where runs are kept.
        command: The command's name.
        seed: The run's seed.
    """
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")[:-3]
    return report_dir / f"{stamp}-{command}-{seed}"
