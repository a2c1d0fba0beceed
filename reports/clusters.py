"""A contact list as a picture: which spellings fall together, by which rule, and who only looks alike."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

from leaserace.harness.contacts import Cluster, Summary

from .palette import COOLDOWN, REFUSED
from .text import visible

SHOWN = 12
"""Clusters of each kind."""
SPELLINGS = 6
WIDTH = 900
ROW = 18
KEY_X = 560
TEXT = 52
"""Characters of one label."""


def clusters_svg(summary: Summary) -> bytes:
    """The largest clusters, spellings on the left joined to their contact on the right.

    Args:
        summary: What the list holds.
    """
    parts: list[str] = []
    y = 56
    groups = (
        ("One contact", summary.clusters, COOLDOWN),
        ("Only look alike", summary.alike, REFUSED),
    )
    for title, clusters, colour in groups:
        if not clusters:
            continue
        parts.append(_text(20, y, title, bold=True))
        y += ROW + 6
        for cluster in clusters[:SHOWN]:
            parts.extend(_cluster(cluster, y, colour))
            y += ROW * len(_labels(cluster)) + 12
        if len(clusters) > SHOWN:
            parts.append(_text(20, y, f"and {len(clusters) - SHOWN} more"))
            y += ROW
        y += 14
    head = (
        f"{summary.rows:,} rows, {summary.contacts:,} contacts, {summary.collapsed:,} rows too many, "
        f"{summary.alike_groups:,} look-alike groups, {summary.no_address:,} no addresses"
    )
    body = "\n".join([_text(20, 28, head, bold=True), *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" width="{WIDTH}" '
        f'height="{y}" font-family="system-ui, sans-serif" font-size="13" role="img">\n'
        f"<title>{_escaped(head)}</title>\n"
        f'<rect width="100%" height="100%" fill="#ffffff"/>\n{body}\n</svg>\n'
    ).encode()


def _labels(cluster: Cluster) -> Sequence[str]:
    shown = list(cluster.spellings[:SPELLINGS])
    hidden = cluster.rows - len(shown)
    return [*shown, f"and {hidden:,} more"] if hidden > 0 else shown


def _cluster(cluster: Cluster, top: int, colour: str) -> Iterator[str]:
    labels = _labels(cluster)
    middle = top + ROW * (len(labels) - 1) / 2
    for place, label in enumerate(labels):
        y = top + place * ROW
        yield _text(20, y, label)
        yield (
            f'<path d="M 420 {y - 4} C 490 {y - 4}, 490 {middle - 4:g}, {KEY_X - 12} {middle - 4:g}" '
            f'fill="none" stroke="{colour}" stroke-width="1.5"/>'
        )
    radius = 4 + min(6, cluster.rows // 4)
    yield f'<circle cx="{KEY_X - 6}" cy="{middle - 4:g}" r="{radius}" fill="{colour}"/>'
    rules = f" ({', '.join(cluster.rules)})" if cluster.rules else ""
    yield _text(KEY_X + 10, middle, f"{cluster.name}{rules}")


def _text(x: float, y: float, text: str, *, bold: bool = False) -> str:
    plain = visible(text)
    shown = plain if len(plain) <= TEXT * (2 if bold else 1) else f"{plain[: TEXT - 1]}…"
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" fill="#1f2328"{weight}>{_escaped(shown)}</text>'


def _escaped(text: str) -> str:
    return html.escape(visible(text))


__all__ = ["clusters_svg"]
