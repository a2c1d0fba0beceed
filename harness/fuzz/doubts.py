"""What holds even of calls and keys in doubt: nothing stays in doubt for ever, and what is unknown stays so.

The sequential model leaves a contact out once a call on it was interrupted. A few things are certain all
the same, whatever became of that call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..contract import Answer, Code, Refused, Sent
from ..scenario import Race

CLAIM_MS_MAX = 3_600_000
"""So long after its last try nobody can still be at a send: far longer than any deadline."""
_ABOUT = ("subject", "body", "kind", "endpoint", "refers_to")


def key_of(args: Mapping[str, Any]) -> str:
    """The idempotency key a call names, as it is compared; "" if none (spec: K3)."""
    key = args["message"].get("key") if "message" in args else args.get("key")
    return (key or "").strip().casefold()


def payload_of(contact: int, args: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a key stands for: the person and the message (spec: K4)."""
    message = args["message"]
    return (contact, *(message.get(name) for name in _ABOUT))


class Doubts:
    """Keys in doubt, and the three things that are certain of them.

    Args:
        race: Where differences are written.
        now_ms: The store's clock, exactly.
    """

    def __init__(self, race: Race, now_ms: Callable[[], int]) -> None:
        self._race = race
        self._now_ms = now_ms
        self._keys: set[str] = set()
        self._tried_ms: dict[str, int] = {}
        """Key to the end of its last try that may have gone on."""
        self._arrived: dict[str, tuple[Any, ...]] = {}
        """Key to the message that arrived and whose outcome its sender was told is unknown."""
        self._halted_ms = -1
        """When somebody was last told that sending is halted."""

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def touch(self, args: Mapping[str, Any]) -> None:
        """A call that names this key was interrupted, or ended in doubt."""
        key = key_of(args)
        if key:
            self._keys.add(key)
            self._arrived.pop(key, None)
            if "message" in args:
                self._tried_ms[key] = self._now_ms()

    def arrived(self, contact: int, args: Mapping[str, Any]) -> None:
        """A new message was taken by the receiving side, and its sender told that this is unknown."""
        self._arrived[key_of(args)] = payload_of(contact, args)

    def judge(self, agent: str, contact: int, args: Mapping[str, Any], answer: Answer) -> bool:
        """Whether the answer of a call that nothing overlapped contradicts what is certain.

        Args:
            agent: Agent id.
            contact: Index of the contact.
            args: The call's arguments.
            answer: What it was answered.
        """
        code = answer.code if isinstance(answer, Refused) else None
        if code is Code.SENDING_HALTED:
            self._halted_ms = self._now_ms()
        if "message" not in args:
            return False
        return (
            self._is_left(agent, args, code)
            or self._passes_a_halt(agent, args, answer)
            or self._is_forgotten(agent, contact, args, answer)
        )

    def _is_left(self, agent: str, args: Mapping[str, Any], code: Code | None) -> bool:
        """A try whose worker is gone ends by itself (spec: X9, S8)."""
        tried_ms = self._tried_ms.get(key_of(args))
        if code is not Code.SEND_IN_PROGRESS or tried_ms is None:
            return False
        if self._now_ms() < tried_ms + CLAIM_MS_MAX:
            return False
        what = f"{agent}'s try an hour and more after the last one under its key"
        return not self._race.require(what, wanted="an end of that try", observed=str(code))

    def _passes_a_halt(self, agent: str, args: Mapping[str, Any], answer: Answer) -> bool:
        """A halt binds everybody, as long as no time has passed in which it may have ended (spec: O5)."""
        is_new = isinstance(answer, Sent) and not answer.replay and key_of(args) not in self
        if not is_new or self._halted_ms != self._now_ms():
            return False
        what = f"{agent}'s send while sending is halted"
        return not self._race.expect(what, answer, Code.SENDING_HALTED)

    def _is_forgotten(
        self, agent: str, contact: int, args: Mapping[str, Any], answer: Answer
    ) -> bool:
        """What arrived stays unknown until somebody learns that it was delivered (spec: K10)."""
        key = key_of(args)
        if self._arrived.get(key) != payload_of(contact, args):
            return False
        if isinstance(answer, Sent):
            del self._arrived[key]  # from now on its window counts
            return False
        what = f"{agent}'s try of a message that had arrived, its outcome unknown"
        wanted = (Code.SEND_STATUS_UNKNOWN, Sent)
        return not self._race.expect(what, answer, *wanted)


__all__ = ["CLAIM_MS_MAX", "Doubts", "key_of", "payload_of"]
