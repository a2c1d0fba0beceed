"""Rules over a history, one family a file; `ALL` in the order reports tell them."""

from .agents import AGENT_RULES
from .audit import RefusalHasState
from .base import Rule
from .cancels import Truthful
from .clock import StoreDecides
from .contacts import OneKey
from .contract import Expected, Kept
from .cooldown import BindsAll, NoDoubleContact
from .halts import Halted
from .inbound import OncePerEvent
from .keys import PayloadBound, ReplayIsOriginal
from .leases import LiveAtSend, OneLive, ReleaseByHolder, RenewalHolds
from .load import Counted
from .messages import Fit
from .persons import Decide
from .refusals import Explained
from .repeats import Escalated
from .sends import Arrived, MessageIdArrives, Once, StepsInOrder
from .suppression import Wins
from .tokens import CommitOrder, Rise, StaleNeverSends

ALL: tuple[type[Rule], ...] = (
    Kept,
    OneKey,
    OneLive,
    RenewalHolds,
    ReleaseByHolder,
    LiveAtSend,
    Rise,
    StaleNeverSends,
    CommitOrder,
    Once,
    Arrived,
    MessageIdArrives,
    StepsInOrder,
    Halted,
    Fit,
    ReplayIsOriginal,
    PayloadBound,
    Wins,
    Decide,
    OncePerEvent,
    Truthful,
    Counted,
    BindsAll,
    NoDoubleContact,
    StoreDecides,
    Explained,
    Escalated,
    RefusalHasState,
    Expected,
    *AGENT_RULES,
)
"""Every rule; one whose capabilities a target lacks is left out and named."""

BY_NAME: dict[str, type[Rule]] = {rule.name: rule for rule in ALL}
