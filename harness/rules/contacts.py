"""Contacts: one person has one key, whatever the spelling (spec: I1, I2, I3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..contract import Capability
from ..history import Operation, OpType
from ..verdict import Finding
from .base import Rule
from .ledger import View


class OneKey(Rule):
    """Every answer about one person carries one key, and no other person's answers carry it.

    Spec: I1, I2, I3. Spellings that differ only in letter case or outer white space are judged for
    every target; aliases, tags and other forms only for one that declares them.

    Legal::

        sales-01   acquire Jane.Doe@Acme.com -> key jane.doe@acme.com
        support-01 acquire jane.doe@acme.com -> contact_owned

    Illegal::

        sales-01   acquire Jane.Doe@Acme.com -> key Jane.Doe@Acme.com
        support-01 acquire jane.doe@acme.com -> key jane.doe@acme.com
    """

    name = "contacts.one_key"
    spec = ("I1", "I2", "I3")
    needs = frozenset({Capability.LEASE})
    hears = frozenset({"acquire", "renew", "release"})
    outcomes = frozenset({OpType.OK})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._aliases = Capability.ALIASES in self.info.capabilities
        self._first: dict[tuple[str, str], Operation] = {}
        self._owner: dict[str, Operation] = {}

    def completed(self, view: View) -> Iterable[Finding]:
        op = view.op
        key = op.answer.get("key")
        if not key:
            return
        address = "" if self._aliases else str(op.args.get("address", "")).strip().casefold()
        first = self._first.setdefault((op.contact, address), op)
        owner = self._owner.setdefault(key, op)
        self.exercised += first is not op
        if first.answer["key"] != key:
            yield self.finding(
                f"{op.contact} has two keys: {first.answer['key']} as {first.args.get('address')}, "
                f"{key} as {op.args.get('address')}",
                first,
                op,
            )
        if owner.contact != op.contact:
            yield self.finding(
                f"{owner.contact} and {op.contact} are two persons and have one key: {key}",
                owner,
                op,
            )

    def state(self) -> object:
        """Which keys were seen."""
        return frozenset((*who, op.answer["key"]) for who, op in self._first.items())
