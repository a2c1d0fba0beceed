"""Campaigns: what is found, how it is shrunk, kept and believed."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from leaserace.harness.contract import (
    AgentContext,
    Capability,
    Environment,
    Lease,
    Refused,
    UsageError,
)
from leaserace.harness.fuzz.campaign import Budget, Campaign, Campaigned, Corpus
from leaserace.harness.fuzz.shrinking import shrink
from leaserace.harness.fuzz.simulated import SimStand
from leaserace.harness.fuzz.stands import Played, play
from leaserace.harness.fuzz.steps import Verb
from leaserace.harness.targets import load_target
from leaserace.harness.verdict import Verdict
from leaserace.reference_impl.broken import twins
from leaserace.reference_impl.mailbox import ReferenceMailbox
from leaserace.reference_impl.parts import Parts
from leaserace.reference_impl.sending import Sending
from leaserace.reference_impl.target import ReferenceTarget
from tests.harness.fuzz.support import REFERENCE, plan_of, rules, texts, twin


def campaign(
    target: str | ReferenceTarget, examples: int, *, seed: int = 1, corpus: Corpus | None = None
) -> Campaigned:
    found = load_target(target) if isinstance(target, str) else target
    with SimStand(found) as stand:
        return Campaign(stand, Budget(examples=examples), seed=seed, corpus=corpus).run()


def test_the_reference_has_no_finding() -> None:
    result = campaign(REFERENCE, 60)

    assert result.case is None
    assert result.verdict is Verdict.VALID
    assert result.reached.examples == 60


@pytest.mark.slow
def test_every_rule_and_every_code_is_reached() -> None:
    result = campaign(REFERENCE, 800, seed=2)

    assert result.reached.idle_rules(frozenset(load_target(REFERENCE).capabilities)) == []
    assert result.reached.missing_codes() == []


@pytest.mark.parametrize(
    "safeguard", ["fencing_check", "release_owner", "delivery", "dot_folding", "composed_letters"]
)
def test_a_twin_is_found_and_told_in_few_steps(safeguard: str) -> None:
    result = campaign(twin(safeguard), 400)

    assert result.case is not None
    assert result.case.is_certain
    assert len(result.case.shortest.told) <= 7


@pytest.mark.slow
@pytest.mark.parametrize("name", [each.name for each in twins()])
def test_every_twin_is_found(name: str) -> None:
    """Three campaigns, since one may linger where its first runs led it."""
    target = f"leaserace.reference_impl.broken.{name}:target"

    assert any(campaign(target, 2_500, seed=seed).case is not None for seed in (1, 2, 3))


def test_runs_are_drawn_afresh() -> None:
    """Near-copies of one run would find little: most differ in their shape or first steps."""
    seen: list[tuple[object, ...]] = []

    class Watched(Campaign):
        def _hear(self, played: Played) -> None:
            seen.append((played.plan.shape, played.plan.steps[:6]))
            super()._hear(played)

    with SimStand(load_target(REFERENCE)) as stand:
        Watched(stand, Budget(examples=90), seed=1).run()

    assert len(set(seen)) >= 75


def test_the_same_seed_draws_the_same() -> None:
    first, second = campaign(twin("expiry_check"), 400), campaign(twin("expiry_check"), 400)

    assert first.case is not None
    assert second.case is not None
    assert first.case.first.plan == second.case.first.plan


def test_what_was_found_is_tried_first_the_next_time(tmp_path: Path) -> None:
    corpus = Corpus(tmp_path / "found.txt")
    campaign(twin("fencing_check"), 400, corpus=corpus)

    again = campaign(twin("fencing_check"), 400, corpus=corpus)

    assert again.case is not None
    assert again.case.from_corpus
    assert again.case.after == 1


def test_a_broken_line_of_the_corpus_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "found.txt"
    path.write_text(f"{plan_of('a.acquire').to_text()}\nlf0/old\n", encoding="utf-8")

    assert Corpus(path).plans() == [plan_of("a.acquire")]


def test_shrinking_keeps_the_rule_and_merges_passages_of_time() -> None:
    long = plan_of(
        "b.clean-up,a.acquire.s1,a.lookup,a.suppress.opt-out,a.clear.person,b.skew.90s,"
        "time.second-at,time.lease-after,time.second-after,b.acquire.s2,b.renew,a.release"
    )
    with SimStand(load_target(twin("release_token"))) as stand:
        found = play(stand, long)
        shortest = shrink(stand, found)

    assert "leases.release_by_holder" in rules(found) & rules(shortest)
    assert texts(shortest.plan.steps) == ["a.acquire", "time.lease-after", "b.acquire", "a.release"]


class Unfenced(Sending):
    def _check_fence(self, seen: object, draft: object) -> None:
        return None


class Moody(ReferenceTarget):
    """Without its fence in every other run."""

    def __init__(self) -> None:
        super().__init__()
        self._runs = itertools.count()

    def start(self, env: Environment) -> None:
        self.parts = Parts(sending=Unfenced) if next(self._runs) % 2 else Parts()
        super().start(env)


def test_a_flaky_finding_is_shown_as_one_with_what_differed() -> None:
    """Never tried again until it is gone."""
    result = campaign(Moody(), 400)

    assert result.verdict is Verdict.INVALID
    assert result.case is not None
    assert 0 < result.case.shown < result.case.replays or not result.case.is_certain
    assert result.case.flaky


def _target(answer: Callable[[ReferenceMailbox, str], object]) -> ReferenceTarget:
    """The reference, but `acquire` gives this answer."""

    class Mailbox(ReferenceMailbox):
        def acquire(self, address: str) -> Lease | Refused:  # type: ignore[override]
            return answer(self, address)  # type: ignore[return-value]

    class Odd(ReferenceTarget):
        mailbox = Mailbox

    return Odd()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda *_: None, "acquire returned None; allowed: Lease or Refused"),
        (lambda *_: Refused(code="whatever"), "unknown code='whatever'"),  # type: ignore[arg-type]
        (
            lambda *_: Lease(key="k", owner="a", token="41", acquired_at_ms=1, expires_at_ms=2),  # type: ignore[arg-type]
            "token='41', not a whole number of at least 1",
        ),
        (
            lambda *_: Lease(key="k", owner="a", token=1, acquired_at_ms=1, expires_at_ms=None),  # type: ignore[arg-type]
            "expires_at_ms=None",
        ),
        (
            lambda *_: Lease(key="", owner="a", token=1, acquired_at_ms=1, expires_at_ms=2),
            "key='', not a text",
        ),
        (
            lambda *_: Lease(key="k", owner="a", token=1, acquired_at_ms=1),  # type: ignore[call-arg]
            "Lease without 'expires_at_ms'",
        ),
    ],
)
def test_an_answer_that_breaks_the_contract_is_named_with_its_value(
    answer: Callable[[ReferenceMailbox, str], object], said: str
) -> None:
    """Which field of which answer; never a pass, never a crash (spec: R)."""
    result = campaign(_target(answer), 60)

    assert result.case is not None
    finding = result.case.shortest.findings[0]
    assert finding.rule == "contract.kept"
    assert said in finding.message


def test_a_target_that_raises_is_an_unknown_outcome_and_no_crash() -> None:
    def raises(*_: object) -> object:
        raise TimeoutError("the server did not answer")

    result = campaign(_target(raises), 40)

    assert result.case is None
    assert result.verdict is Verdict.UNKNOWN
    assert result.reached.never_answered() == [
        "acquire was never answered, only with TimeoutError: the server did not answer"
    ]


def test_a_target_that_raises_now_and_then_is_judged() -> None:
    numbers = itertools.count()

    def moody(mailbox: ReferenceMailbox, address: str) -> object:
        if next(numbers) % 5 == 0:
            raise TimeoutError("the server did not answer")
        return ReferenceMailbox.acquire(mailbox, address)

    result = campaign(_target(moody), 30)

    assert result.reached.failed
    assert result.reached.never_answered() == []


class NeverStarts(ReferenceTarget):
    def start(self, env: Environment) -> None:
        raise RuntimeError("no database here")


class Flies(ReferenceTarget):
    capabilities = frozenset({Capability.LEASE, "flying"})  # type: ignore[arg-type]


class HalfAMailbox(ReferenceTarget):
    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        return OnlyLeases(super().connect(agent))  # type: ignore[return-value]


def test_a_method_that_is_declared_and_missing_is_a_finding() -> None:
    result = campaign(HalfAMailbox(), 20)

    assert result.case is not None
    finding = result.case.shortest.findings[0]
    assert finding.rule == "contract.kept"
    assert "is missing: connect() returned a OnlyLeases without it" in finding.message


class SleepsInAcquire(ReferenceTarget):
    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        mailbox = super().connect(agent)
        original = mailbox.acquire

        def acquire(address: str) -> Lease | Refused:
            time.sleep(0.01)
            return original(address)

        mailbox.acquire = acquire  # type: ignore[method-assign,assignment]
        return mailbox


class ReadsTheClock(ReferenceTarget):
    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        mailbox = super().connect(agent)
        original = mailbox.acquire

        def acquire(address: str) -> Lease | Refused:
            assert time.time()
            return original(address)

        mailbox.acquire = acquire  # type: ignore[method-assign,assignment]
        return mailbox


class OnlyLeases:
    """A mailbox with no method but those of its capability."""

    def __init__(self, whole: ReferenceMailbox) -> None:
        self.acquire, self.renew = whole.acquire, whole.renew
        self.release, self.close = whole.release, whole.close


class LeaseTarget(ReferenceTarget):
    capabilities = frozenset({Capability.LEASE})

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        return OnlyLeases(super().connect(agent))  # type: ignore[return-value]


def test_a_mailbox_needs_no_method_it_does_not_declare() -> None:
    assert campaign(LeaseTarget(), 40).verdict is Verdict.VALID


class Asked:
    """A mailbox that has only what these capabilities need."""

    def __init__(self, whole: ReferenceMailbox, *names: str) -> None:
        for name in (*names, "close"):
            setattr(self, name, getattr(whole, name))


class TakesLetters(ReferenceTarget):
    """Receives and cancels, but knows no list, override or look-up."""

    capabilities = frozenset(
        {Capability.LEASE, Capability.FENCING, Capability.SEND, Capability.IDEMPOTENCY}
        | {Capability.INBOUND, Capability.CANCEL}
    )

    def connect(self, agent: AgentContext) -> ReferenceMailbox:
        names = ("acquire", "renew", "release", "send", "receive", "cancel")
        return Asked(super().connect(agent), *names)  # type: ignore[return-value]


def test_of_two_kinds_of_step_only_the_one_a_target_declares_is_made() -> None:
    """What is not declared is never asked for, in a plan of another target's either."""
    result = campaign(TakesLetters(), 60)

    assert result.verdict is Verdict.VALID
    assert {Verb.RECEIVE, Verb.CANCEL} <= set(result.reached.verbs)
    assert not {Verb.SUPPRESS, Verb.CLEAR, Verb.OVERRIDE, Verb.LOOKUP} & set(result.reached.verbs)
    with SimStand(TakesLetters()) as stand:
        run = play(stand, plan_of("a.acquire,a.suppress.opt-out,b.clean-up,a.send,a.lookup"))
    assert texts(run.plan.steps) == ["a.acquire", "a.send"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (ReadsTheClock(), r"reads the machine's clock \(time.time\)"),
        (Flies(), "capability 'flying' does not exist; there are aliases, "),
        (NeverStarts(), "can't be started in the simulator: RuntimeError: no database here"),
        (SleepsInAcquire(), "sleeps"),
    ],
)
def test_a_target_that_can_not_be_simulated_is_refused_in_one_line(
    target: ReferenceTarget, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        campaign(target, 40)
