"""The words for what can go wrong."""

from leaserace.harness.faults import AimedFault, Behaviour, FaultKind


def test_an_aimed_fault_reads_as_what_and_where() -> None:
    """spec: T"""
    fault = AimedFault(kind=FaultKind.PAUSE, point="send.checked")
    assert str(fault) == "pause@send.checked"


def test_the_kinds_are_the_words_of_the_history() -> None:
    assert set(FaultKind) == {
        "pause",
        "hold",
        "crash",
        "store_crash",
        "lost_reply",
        "slow_reply",
        "skew",
        "transport",
    }
    assert set(Behaviour) == {"accept", "silent", "refuse", "slow"}
