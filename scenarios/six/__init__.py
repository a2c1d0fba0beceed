"""The six races, in their running order (spec: T)."""

from .cooldown_after_delivery import cooldown_after_delivery
from .retry_after_timeout import retry_after_timeout
from .skewed_renewal import skewed_renewal
from .stale_token import stale_token
from .suppressed_while_leased import suppressed_while_leased
from .two_spellings import two_spellings

__all__ = [
    "cooldown_after_delivery",
    "retry_after_timeout",
    "skewed_renewal",
    "stale_token",
    "suppressed_while_leased",
    "two_spellings",
]
