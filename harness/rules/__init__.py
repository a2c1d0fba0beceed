"""Rules over a history, one family a file; `ALL` in the order reports tell them."""

from .agents import AGENT_RULES
from .audit import RefusalHasState
from .base import Rule
from .cancels import Truthful
from .clock import StoreDecides
from .contacts import OneKey
from .contract import Expected, Kept
from .cooldown import BindsAll, NoDoubleContact
from .keys import PayloadBound, ReplayIsOriginal
from .inbound import OncePerEvent
from .leases import LiveAtSend, OneLive, ReleaseByHolder, RenewalHolds
from .persons import Decide
from .refusals import Explained
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
    ReplayIsOriginal,
    PayloadBound,
    Wins,
    BindsAll,
    NoDoubleContact,
    Decide,
    OncePerEvent,
    StoreDecides,
    Explained,
    Truthful,
    BindsAll,
    NoDoubleContact,
    RefusalHasState,
    Expected,
    *AGENT_RULES,
)
"""Every rule; one whose capabilities a target lacks is left out and named."""

BY_NAME: dict[str, type[Rule]] = {rule.name: rule for rule in ALL}
