"""A scenario: one race with one expected result, written once and run on both engines.

The script of a scenario is one round. It moves agents by hand through the `Race` it is given. What a
script holds is in `race`; a scenario's author finds it here too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from .contract import Capability, Settings
from .race import (
    Actor,
    Call,
    Calls,
    Contact,
    Engaged,
    NotReached,
    Pending,
    Playbook,
    Race,
    Seat,
    Stop,
    slug,
)

Script = Callable[[Race], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to run a scenario.

    Args:
        name: Short; stands in brackets behind the scenario's id.
        needs: Further capabilities.
        points: Points the target must pass, else "not applicable".
        rounds: How many rounds, where it differs from the scenario.
        settings: Lengths, where they differ.
        windows: Situations that must be entered, beside the scenario's.
    """

    name: str
    needs: frozenset[Capability] = frozenset()
    points: frozenset[str] = frozenset()
    rounds: int | None = None
    settings: Settings | None = None
    windows: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One race.

    Args:
        id: Its function's name.
        number: Place in the running order; the six are 1 to 6.
        title: What happens, in a few words.
        spec: Numbers of the spec it shows.
        expected: The single expected result.
        needs: Capabilities a target must have.
        settings: Lengths that isolate its layer.
        variants: At least one.
        rounds: Rounds a variant is run for.
        windows: Situations that must be entered at least once, else the race is unknown.
        masked_by: Which other layer would hide the fault, and how it is kept out.
        script: One round.
        group: ``six``, ``beyond`` or a user's own.
        quick: Measured to be over in a moment: the gate runs it by default, as it does the six.
    """

    id: str
    number: int
    title: str
    spec: tuple[str, ...]
    expected: str
    needs: frozenset[Capability]
    settings: Settings
    variants: tuple[Variant, ...]
    rounds: int
    windows: tuple[str, ...]
    masked_by: str
    script: Script
    group: str
    doc: str = field(default="", repr=False)
    quick: bool = False

    @property
    def by_default(self) -> bool:
        """Whether the gate runs it without being asked for every race."""
        return self.quick or self.group == "six"


class Registry:
    """Scenarios by id; two of one name are an error."""

    def __init__(self) -> None:
        self._scenarios: dict[str, Scenario] = {}

    def add(self, scenario: Scenario) -> None:
        """Take one in.

        Raises:
            ValueError: Another one has this id.
        """
        known = self._scenarios.get(scenario.id)
        if known is not None and known.script.__module__ != scenario.script.__module__:
            message = f"two scenarios are called {scenario.id!r}: rename one"
            raise ValueError(message)
        self._scenarios[scenario.id] = scenario

    def __iter__(self) -> Iterator[Scenario]:
        return iter(sorted(self._scenarios.values(), key=lambda each: (each.number, each.id)))

    def get(self, scenario_id: str) -> Scenario | None:
        """The scenario of this id, or None."""
        return self._scenarios.get(scenario_id)


REGISTRY = Registry()


def scenario(
    *,
    number: int,
    title: str,
    spec: Sequence[str],
    expected: str,
    needs: Iterable[Capability],
    settings: Settings,
    variants: Sequence[Variant] = (Variant(name="plain"),),
    rounds: int = 1,
    windows: Sequence[str] = (),
    masked_by: str = "",
    group: str = "own",
    quick: bool = False,
) -> Callable[[Script], Script]:
    """Register the decorated function as a scenario's script; arguments as in `Scenario`."""

    def register(script: Script) -> Script:
        REGISTRY.add(
            Scenario(
                id=script.__name__,
                number=number,
                title=title,
                spec=tuple(spec),
                expected=expected,
                needs=frozenset(needs),
                settings=settings,
                variants=tuple(variants),
                rounds=rounds,
                windows=tuple(windows),
                masked_by=masked_by,
                script=script,
                group=group,
                doc=script.__doc__ or "",
                quick=quick,
            )
        )
        return script

    return register


__all__ = [
    "REGISTRY",
    "Actor",
    "Call",
    "Calls",
    "Contact",
    "Engaged",
    "NotReached",
    "Pending",
    "Playbook",
    "Race",
    "Registry",
    "Scenario",
    "Script",
    "Seat",
    "Stop",
    "Variant",
    "scenario",
    "slug",
]
