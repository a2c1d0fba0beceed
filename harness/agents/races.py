"""The situations of an agent under test as one scenario: a variant each, run by either engine."""

from __future__ import annotations

from collections.abc import Mapping

from ..contract import Capability
from ..scenario import Race, Scenario, Variant
from .situations import CODES
from .situations_faults import FAULTS
from .situations_scripted import SCRIPTED
from .stage import SETTINGS, Situation, Stage

SITUATIONS: Mapping[str, Situation] = {each.name: each for each in (*CODES, *SCRIPTED, *FAULTS)}
"""All situations by name, in the order in which an agent is led into them."""
AGENT = "agent"
"""Id and group of the scenario."""
NUMBER = 100
NEEDS = frozenset({Capability.LEASE, Capability.SEND, Capability.LOOKUP, Capability.SUPPRESS})


def agent_scenario(name: str) -> Scenario:
    """The situations an agent is led into.

    Args:
        name: The agent, as `agent_called` takes it.
    """

    def script(race: Race) -> None:
        situation = SITUATIONS[race.variant]
        situation.lead(Stage(race, name, situation))

    return Scenario(
        id=AGENT,
        number=NUMBER,
        title="an agent of the user's works beside one of ours",
        spec=("A1", "A2", "A3", "T3"),
        expected="after each answer it does what the table of spec R says",
        needs=NEEDS,
        settings=SETTINGS,
        variants=tuple(
            Variant(name=each.name, settings=each.settings) for each in SITUATIONS.values()
        ),
        rounds=1,
        windows=(),
        masked_by="nothing: the mailbox is correct, and what it refuses was asked all the same",
        script=script,
        group=AGENT,
    )
