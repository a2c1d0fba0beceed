"""What the fuzzer came by: rules that had something to judge, codes that were answered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

from ..contract import Capability, Code, NoReply, Refused
from ..rules import ALL
from ..rules.base import Rule
from .stands import Played
from .steps import CALLS, Trouble


@dataclass(slots=True)
class Reached:
    """Counts over all runs of a campaign.

    Attributes:
        examples: Runs.
        steps: Steps that were made.
        rules: Rule to how often it had something to judge.
        codes: Refusal code to how often it was answered.
        verbs: Kind of step to how often it was made.
        troubles: Kind of mishap to how often it struck.
        points: Point to how often somebody was stopped or crashed there.
        problems: Why runs could not be judged.
        answered: Kind of call to how often it was answered.
        failed: Kind of call to what it raised, undisturbed, the first time.
    """

    examples: int = 0
    steps: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    troubles: Counter[str] = field(default_factory=Counter)
    points: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    answered: Counter[str] = field(default_factory=Counter)
    failed: dict[str, str] = field(default_factory=dict)

    def take(self, played: Played) -> None:
        """Count one run."""
        self.examples += 1
        self.steps += len(played.told)
        self.rules.update(played.judgement.exercised)
        self.problems.update(played.problems)
        for told in played.told:
            step, answer = told.step, told.answer
            self.verbs[step.verb] += 1
            if step.trouble is not Trouble.NONE:
                self.troubles[step.trouble] += 1
            if step.point:
                self.points[step.point] += 1
            if isinstance(answer, Refused):
                self.codes[answer.code] += 1
            if isinstance(answer, NoReply):
                if step.verb in CALLS and step.trouble is Trouble.NONE:
                    self.failed.setdefault(step.verb, answer.why)
            elif answer is not None:
                self.answered[step.verb] += 1

    def never_answered(self) -> list[str]:
        """Calls that always failed, whatever befell them: nothing can be said of them."""
        return [
            f"{verb} was never answered, only with {why}"
            for verb, why in self.failed.items()
            if not self.answered[verb]
        ]

    def idle_rules(self, capabilities: Set[Capability]) -> list[str]:
        """Rules that apply to such a target and never had anything to judge."""
        return [rule.name for rule in _rules_of(capabilities) if not self.rules[rule.name]]

    def missing_codes(self) -> list[str]:
        """Codes that were never answered."""
        return [str(code) for code in Code if not self.codes[code]]

    def figures(self) -> dict[str, float]:
        """The counts under names, for ``verdict.json``."""
        named = {"runs": self.examples, "steps": self.steps}
        named |= {f"rule {name}": count for name, count in self.rules.items()}
        named |= {f"code {name}": count for name, count in self.codes.items()}
        return {name: float(count) for name, count in named.items()}

    def lines(self, capabilities: Set[Capability]) -> Iterable[str]:
        """The counts in words, a line each."""
        rules = _rules_of(capabilities)
        idle, missing = self.idle_rules(capabilities), self.missing_codes()
        yield f"rules with something to judge: {len(rules) - len(idle)} of {len(rules)}" + _but(
            idle
        )
        yield f"codes answered: {len(Code) - len(missing)} of {len(Code)}" + _but(missing)
        yield f"mishaps: {_counted(self.troubles)}; at {len(self.points)} points"
        yield f"steps: {_counted(self.verbs)}"
        yield from self.never_answered()
        for problem, count in self.problems.most_common(3):
            yield f"could not be judged ({count} times): {problem}"


def _rules_of(capabilities: Set[Capability]) -> list[type[Rule]]:
    """Rules that judge such a target; nobody marks what those need that sleep until a mark."""
    return [rule for rule in ALL if rule.needs <= set(capabilities) and not rule.needs_mark]


def _but(names: list[str]) -> str:
    return f"; never: {', '.join(names)}" if names else ""


def _counted(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())
