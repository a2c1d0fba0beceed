"""Ways in which an idempotency key goes wrong (spec: K9)."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence

from ..contract import Answer, Code, Message, Refused
from ..errand import Effect, Errand

BACK_OFF_S = 0.05
"""How long an agent waits for a reply before it takes it for lost."""
ATTEMPTS = 2
"""How often a step with one key over it is done."""
WORDINGS = ("", " once more", ", just as we said", " (a gentle reminder)")
"""What a model makes of one sentence, try by try."""
DASHES = ("-", "_", "")
"""What a model writes where the key has a dash."""


class TimeInKey(Errand):
    """The time of the call is part of the key, so a retry is a new request (spec: K9).

    Key and look-up are made anew at each call, as an agent does that keeps no key: the look-up finds
    nothing, and what was delivered is sent again.
    """

    def key(self, step: str, message: Message) -> str:
        """The recipe's key, then this agent's own clock in milliseconds."""
        return f"{message.key}:{self.seat.clock.now_ms()}"

    def after_unknown(self, step: str, message: Message) -> Answer:
        """The reply was waited for, so it is later now."""
        self.seat.wait_s(BACK_OFF_S)
        return super().after_unknown(step, message)


class UuidPerCall(Errand):
    """Each call makes a fresh UUID, so no try is ever joined with another (spec: K9).

    As tools do that make the key inside the call, where no retry can hand it in again (B58, B61).
    """

    def key(self, step: str, message: Message) -> str:
        """A UUID of the agent's own draws."""
        return str(uuid.UUID(int=self.seat.rng.getrandbits(128), version=4))


class ModelWritesKey(Errand):
    """The model writes the key from memory; case, dashes and spaces drift (spec: K1, K3, K9).

    A mailbox folds case and strips the outer white space (K3); a dash that became another sign makes
    another key. It becomes another at each try.
    """

    _dash: str | None = None

    def key(self, step: str, message: Message) -> str:
        """The key as the model remembers it at this call."""
        rng = self.seat.rng
        self._dash = rng.choice([dash for dash in DASHES if dash != self._dash])
        return drifted((message.key or "").replace("-", self._dash), rng)


class RewordsBody(Errand):
    """The model writes the text anew at each try, and the key is a hash of it (spec: K9, X14; B53, B54)."""

    def wording(self) -> str:
        """Another wording at each try, and after each restart."""
        return WORDINGS[(self.tries + self.seat.incarnation) % len(WORDINGS)]


class OneKeyForMany(Errand):
    """One key stands over all messages of a step (spec: K7, K9, X18).

    The second message is refused, since its payload is another one (K4). The agent takes the step for
    failed and does all of it again under another key: what had arrived arrives twice, the rest never.
    A step with one recipient has two messages here, the mail and a note.
    """

    _step = ""
    _attempt = 0
    _was_reused = False

    def effects(self, step: str) -> Sequence[Effect]:
        """At least two messages."""
        effects = super().effects(step)
        if len(effects) > 1:
            return effects
        return (*effects, effects[0]._replace(step=f"{step}.note"))

    def write(self, step: str, *, keep: bool = False) -> bool:
        """Do the step, and all of it again if its key was refused."""
        self._step = step
        for self._attempt in range(ATTEMPTS):
            self._was_reused = False
            goes_on = super().write(step, keep=keep)
            if not self._was_reused:
                return goes_on
        return False

    def key(self, step: str, message: Message) -> str:
        """The step's key, whatever the message is."""
        key = f"{self.run_id()}:{self.seat.id}:{self._step}"
        return f"{key}:again-{self._attempt}" if self._attempt else key

    def may_try_again(self, answer: Answer) -> bool:
        """A refused key ends the attempt."""
        if isinstance(answer, Refused) and answer.code is Code.KEY_REUSED:
            self._was_reused = True
        return super().may_try_again(answer)


def drifted(key: str, rng: random.Random) -> str:
    """A key in another case and with a space around it, as a model writes it.

    Args:
        key: As it would be without.
        rng: The agent's draws.
    """
    written = rng.choice((str.lower, str.upper, str.title))(key)
    return rng.choice(("", " ")) + written + rng.choice(("", " "))
