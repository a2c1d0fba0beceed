"""Bad input of every kind: the field is named, nothing is sent, nothing is stored (spec: K3, O6, I4)."""

from __future__ import annotations

import email
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leaserace.harness.contract import Code, Endpoint, Found, Message, Refused, Sent
from leaserace.reference_impl.idempotency import KEY_LENGTH_MAX, Keys
from leaserace.reference_impl.identity import Identity, InvalidAddress
from leaserace.reference_impl.lint import FAULTS_MAX, HEADER_LENGTH_MAX
from leaserace.reference_impl.orchestration import Run, SentTable
from leaserace.reference_impl.outcomes import Refusal
from leaserace.reference_impl.recipes import InvalidPart, step_key, thread_key
from leaserace.reference_impl.records import TABLES
from leaserace.reference_impl.stores.protocol import Store
from tests.reference_impl.desk import JANE, SHORT, Desk
from tests.reference_impl.odd_addresses import INVALID, REFUSED, VALID

KEYS = Keys("sales-01", SHORT)
IDENTITY = Identity(SHORT.addresses)
RECORD_MAX = 5_000
"""Characters one refusal may take in the log, however long the input was."""
HUGE = 30_000_000
MILLION = 1_000_000

MISSING_KEYS = (None, "", "   ", " \t\r\n\x0b\x0c")
CONTROLS = tuple(map(chr, (*range(0x20), 0x7F, *range(0x80, 0xA0))))
BAD_KEYS = (
    "k" * (KEY_LENGTH_MAX + 1),
    "k" * MILLION,
    " " * MILLION + "a b",
    "run 1:send",
    *(f"run{control}1" for control in CONTROLS),
    *(f"run:1{control}" for control in "\x00\x1c\x1d\x1e\x1f\x7f\x85"),
    "\u00a0\u2003",  # spaces, and none of ASCII
    "run:1\u00a0",
    "r\u03c5n:1",  # a Greek upsilon
    "run:\u0430",  # a Cyrillic a
    "\uff52\uff55\uff4e:1",  # full width
    "ﬁnal:1",  # a ligature, which folds to two letters
    "straße:1",  # folds to "ss"
    "\u212a:1",  # the Kelvin sign, which folds to "k"
    "\u017fend:1",  # a long s, which folds to "s"
    "run\u200b:1",
    "\u202erun:1",
    "run:1\ufeff",
    "run:\ud83d",
)

BREAKS = (
    "\r\n",
    "\n",
    "\r",
    "\x0b",
    "\x0c",
    "\x1c",
    "\x1d",
    "\x1e",
    "\x85",
    "\u2028",
    "\u2029",
    "\x00",
)
PAYLOADS = (
    *(f"a{each}Bcc: x@evil.example" for each in BREAKS),
    "=?utf-8?q?a=0D=0ABcc:_x@evil.example?=",
    "=?utf-8?q?a=0ABcc:_x@evil.example?= b",
    "=?UTF-8?B?YQ0KQmNjOiB4QGV2aWwuZXhhbXBsZQ==?=",
    "=?iso-8859-1?q?a=0D=0ABcc:_x@evil.example?=",
    "b=?utf-8?q?=0D=0ABcc:_x@evil.example?=",
    "=?utf-8?q?a?= =?utf-8?q?=0D=0ABcc:_x@evil.example?=",
)
REPLY: dict[str, Any] = {"endpoint": Endpoint.REPLY}
FORWARD: dict[str, Any] = {"endpoint": Endpoint.FORWARD}
ONE_CLICK = {"List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
FIELDS: tuple[tuple[str, Callable[[str], dict[str, Any]]], ...] = (
    ("to", lambda text: {"to": f"{text}@acme.com"}),
    ("to", lambda text: {"to": f"{JANE}{text}"}),
    ("to", lambda text: {"to": f"{text} <{JANE}"}),
    ("subject", lambda text: {"subject": text}),
    ("intent", lambda text: {"intent": text}),
    ("refers_to", lambda text: {**REPLY, "refers_to": text}),
    ("refers_to", lambda text: {**REPLY, "refers_to": f"<{text}@acme.com>"}),
    ("refers_to", lambda text: {**FORWARD, "refers_to": f"<1@acme.com> {text}"}),
    ("headers.X-Team", lambda text: {"headers": {"X-Team": text}}),
    ("headers.Reply-To", lambda text: {"headers": {"Reply-To": f"{text} <sales@acme.com>"}}),
    ("headers.In-Reply-To", lambda text: {"headers": {"In-Reply-To": f"<1@acme.com> {text}"}}),
    ("headers.References", lambda text: {"headers": {"References": f"<1@acme.com> {text}"}}),
    (
        "headers.List-Unsubscribe",
        lambda text: {"headers": {"List-Unsubscribe": f"<https://acme.com/{text}>", **ONE_CLICK}},
    ),
    (
        "headers.List-Unsubscribe-Post",
        lambda text: {
            "headers": {
                "List-Unsubscribe": "<https://acme.com/out>",
                "List-Unsubscribe-Post": f"List-Unsubscribe=One-Click {text}",
            }
        },
    ),
    ("headers.", lambda text: {"headers": {f"X {text}": "a"}}),
    ("headers.", lambda text: {"headers": {f"X-A: 1{text}": "a"}}),
)


def kept(store: Store) -> dict[str, list[Any]]:
    """Every row there is, the log aside."""
    with store.transaction(1.0) as tx:
        return {kind.__name__: list(tx.rows(kind)) for kind in TABLES}


class Bench:
    """A desk, and what stood on it before."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.lease = desk.lease()
        self._before = kept(desk.store)
        self._logged = len(desk.log())

    def refused(self, call: Callable[[], object]) -> Refused:
        """Its refusal, after which nothing was sent or stored but a short record of it (spec: R3)."""
        answer = call()
        assert isinstance(answer, Refused), answer
        assert self.desk.transport.taken == []
        assert kept(self.desk.store) == self._before
        (record,) = self.desk.log()[self._logged :]
        assert record.decision == answer.code
        assert len(str(record)) < RECORD_MAX
        assert len(answer.detail) < RECORD_MAX
        self._logged += 1
        return answer

    def send(self, **fields: Any) -> Refused:
        """The refusal of a message with these fields, at the endpoint they name."""
        message = self.desk.message(self.lease, **fields)
        mailbox = self.desk.mailbox()
        return self.refused(lambda: getattr(mailbox, message.endpoint)(message))


@pytest.fixture
def bench(desk: Desk) -> Bench:
    return Bench(desk)


# Keys.


@pytest.mark.parametrize("endpoint", Endpoint)
def test_a_bad_key_is_refused_by_every_endpoint(bench: Bench, endpoint: Endpoint) -> None:
    """0, 256 and a million characters, spaces, control characters, look-alikes. spec: K3, K4, K8"""
    about = None if endpoint is Endpoint.SEND else "<1@acme.com>"
    for key in (*MISSING_KEYS, *BAD_KEYS):
        refused = bench.send(key=key, endpoint=endpoint, refers_to=about)
        wanted = Code.KEY_MISSING if key in MISSING_KEYS else Code.KEY_INVALID
        assert refused.code is wanted, ascii(key)[:60]
        assert "key" in refused.detail


def test_a_bad_key_is_refused_where_it_is_only_asked_for(bench: Bench) -> None:
    """spec: K3"""
    mailbox = bench.desk.mailbox()
    for key in (*MISSING_KEYS[1:], *BAD_KEYS):
        assert key is not None
        wanted = Code.KEY_MISSING if key in MISSING_KEYS else Code.KEY_INVALID
        for ask in (mailbox.lookup, mailbox.cancel):
            refused = bench.refused(partial(ask, key))
            assert refused.code is wanted, ascii(key)[:60]


@pytest.mark.parametrize("length", [1, KEY_LENGTH_MAX])
def test_the_shortest_and_the_longest_key_are_taken(desk: Desk, length: int) -> None:
    """White space around it does not count. spec: K3"""
    _, message, sent = desk.sent(key="K" * length)
    again = desk.mailbox().send(replace(message, key=f"\r\n {'k' * length}\t"))
    assert again == replace(sent, replay=True)
    assert isinstance(desk.mailbox().lookup("k" * length), Found)


@given(st.text(max_size=8), st.text(max_size=8))
@example("ﬁ", "fi")
@example("ß", "ss")
@example("\u212a", "k")
@example("a\x1c", "a")
@example("a\u00a0", "a")
def test_two_keys_are_one_only_by_case_and_white_space_of_ascii(one: str, other: str) -> None:
    """spec: K3"""
    try:
        same = KEYS.normalise(one) == KEYS.normalise(other)
    except Refusal:
        return
    assert one.isascii()
    assert other.isascii()
    assert same == (one.strip().lower() == other.strip().lower())


# Size.


TOO_LARGE: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "body": ("body", lambda: {"body": "x" * HUGE}),
    "body in UTF-8": ("body", lambda: {"body": "é" * (HUGE // 2)}),
    "subject": ("body", lambda: {"subject": "x" * HUGE}),
    "header": ("body", lambda: {"headers": {"X-Team": "x" * HUGE}}),
    "header name": ("body", lambda: {"headers": {"X" * HUGE: "x"}}),
    "address": ("to", lambda: {"to": f"{'x' * HUGE}@acme.com"}),
    "display name": ("to", lambda: {"to": f"{'x' * HUGE} <{JANE}>"}),
    "intent": ("intent", lambda: {"intent": "x" * HUGE}),
    "reference": ("refers_to", lambda: {**REPLY, "refers_to": f"<{'x' * HUGE}@acme.com>"}),
    "longer subject": ("subject", lambda: {"subject": "x" * (HEADER_LENGTH_MAX + 1)}),
    "longer header": ("headers.X-Team", lambda: {"headers": {"X-Team": "x" * MILLION}}),
    "longer header name": ("headers.XXX", lambda: {"headers": {"X" * MILLION: "x"}}),
    "many headers": (
        "headers.X1:",
        lambda: {"headers": {f"X{number}:": "a" for number in range(100_000)}},
    ),
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_what_is_too_large_is_refused_and_not_kept(bench: Bench, what: str) -> None:
    """A body of 30 MB, and the same in every other field. spec: O6"""
    field, fields = TOO_LARGE[what]
    refused = bench.send(**fields())
    assert field in refused.detail
    assert len(refused.faults) <= FAULTS_MAX


# Addresses.


@pytest.mark.parametrize("address", VALID)
def test_an_odd_address_that_mail_can_go_to_is_taken(address: str) -> None:
    """spec: I1, I3"""
    desk = Desk.in_memory()
    desk.sent(to=address)
    (taken,) = desk.transport.taken
    assert IDENTITY.key(taken.recipient) == replace(IDENTITY.key(address), address=taken.recipient)
    mail = email.message_from_bytes(taken.data, policy=email.policy.SMTPUTF8)
    assert mail["To"] == taken.recipient


@pytest.mark.parametrize("addresses", [REFUSED, INVALID], ids=["refused", "invalid"])
def test_what_is_no_address_is_refused_by_name(bench: Bench, addresses: tuple[str, ...]) -> None:
    """By the lint, and by every call that takes an address. spec: I4, O6"""
    mailbox = bench.desk.mailbox()
    calls: tuple[Callable[[str], object], ...] = (
        mailbox.acquire,
        lambda text: mailbox.renew(text, 1),
        lambda text: mailbox.release(text, 1),
        lambda text: mailbox.suppress(text, "opt-out"),
        lambda text: mailbox.unsuppress(text, "person:jo"),
        lambda text: mailbox.override(text, "person:jo", "asked"),
    )
    for address in addresses:
        refused = bench.send(to=address)
        assert refused.code is Code.INVALID_ADDRESS, address[:80]
        assert refused.detail.startswith("to: ")
        for call in calls:
            assert bench.refused(partial(call, address)).code is Code.INVALID_ADDRESS


def test_a_local_part_ends_at_64_characters() -> None:
    """RFC 5321, section 4.5.3.1.1. spec: I4"""
    assert IDENTITY.key(f"{'a' * 64}@acme.com").key == f"{'a' * 64}@acme.com"
    with pytest.raises(InvalidAddress, match="too long before the @-sign"):
        IDENTITY.key(f"{'a' * 65}@acme.com")


# Header injection.


@pytest.mark.parametrize(
    ("field", "fields"), FIELDS, ids=[f"{number}-{each[0]}" for number, each in enumerate(FIELDS)]
)
def test_no_field_writes_a_header(
    bench: Bench, field: str, fields: Callable[[str], dict[str, Any]]
) -> None:
    """Line breaks of every kind, and encoded words that decode to one (CVE-2024-6923). spec: O6"""
    for payload in PAYLOADS:
        refused = bench.send(**fields(payload))
        assert refused.code in (Code.INVALID_ADDRESS, Code.INVALID_MESSAGE), ascii(payload)
        assert refused.detail.lstrip("'").startswith(field), refused.detail


OURS = {
    *("From", "To", "Subject", "Message-ID", "Date", "X-Leaserace-Intent"),
    *("List-Unsubscribe", "List-Unsubscribe-Post"),
    *("Content-Type", "Content-Transfer-Encoding", "MIME-Version"),
}
PIECES = st.sampled_from(
    ["=?utf-8?q?", "=?utf-8?b?", "=?", "?=", "=0A", "=0D=0A", "Cg==", "DQo=", "Bcc:", " ", "é", "x"]
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=9).map("".join))
@example("=?utf-8?b?Bcc:=?utf-8?q?Cg==Cg===?utf-8?q?=?utf-8?b?xé")
@example("é=0D=0A=?utf-8?b?=0A=?=0D=0A")
def test_whatever_passes_the_lint_is_one_header(text: str) -> None:
    """spec: O6"""
    further = ("X-A", "References", "Reply-To", "List-Id")
    desk = Desk.in_memory()
    lease = desk.lease()
    tries: list[dict[str, Any]] = [{"subject": text}, {"intent": text}]
    for fields in (*tries, *({"headers": {name: text}} for name in further)):
        message = desk.message(lease, **fields)
        if isinstance(desk.mailbox().send(message), Sent):
            data = desk.transport.taken[-1].data
            head = data.replace(b"\r\n", b"\n").partition(b"\n\n")[0].replace(b"\r", b"\n")
            names = {
                line.partition(b":")[0].decode()
                for line in head.split(b"\n")
                if line[:1] not in b" \t"
            }
            assert names <= OURS | set(fields.get("headers", {}))


def test_an_encoded_word_that_hides_nothing_is_taken(desk: Desk) -> None:
    """spec: O6"""
    desk.sent(subject="=?utf-8?q?Gr=C3=BC=C3=9Fe?=", headers={"X-Team": "=?utf-8?q?J=C3=BCrgen?="})
    mail = email.message_from_bytes(desk.transport.taken[0].data, policy=email.policy.SMTP)
    assert mail["Subject"] == "Grüße"


# Names in keys.


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a:b", "c"), ("a", "b:c")),
        (("a%3ab", "c"), ("a:b", "c")),
        (("a", ":b"), ("a:", "b")),
        (("ﬁ", "a"), ("fi", "a")),
        (("a" * 100, "b"), ("a" * 101, "b")),
    ],
)
def test_a_delimiter_in_a_name_makes_another_key(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    """Never one key for two. spec: K7"""
    fixed: dict[str, Any] = {"recipient": JANE, "subject": "s", "body": "b", "policy": SHORT}
    keys = {step_key(run_id=run_id, step=step, **fixed) for run_id, step in (one, other)}
    assert len(keys) == 2


@pytest.mark.parametrize(
    "name", ["", "  ", "a\nb", "a\x00b", " a", "\ud83d", "x" * 1001, "x" * MILLION]
)
def test_a_name_that_makes_no_key_is_named_and_nothing_is_run(store: Store, name: str) -> None:
    """spec: K7, O1"""
    step = {"run_id": "r", "step": "s", "recipient": JANE, "subject": "s", "body": "b"}
    thread = {"thread": "t", "recipient": JANE, "campaign_action": "a"}
    for field in ("run_id", "step"):
        with pytest.raises(InvalidPart, match=f"^{field}: "):
            step_key(**step | {field: name}, policy=SHORT)
    for field in ("thread", "campaign_action"):
        with pytest.raises(InvalidPart, match=f"^{field}: "):
            thread_key(**thread | {field: name}, policy=SHORT)
    before = kept(store)
    ran: list[str] = []
    with pytest.raises(InvalidPart, match=r"^run_id: "):
        Run(store, name)
    with pytest.raises(InvalidPart, match=r"^step: "):
        Run(store, "run-7").step(name, lambda: ran.append(name))
    assert ran == []
    assert kept(store) == before


@pytest.mark.parametrize(
    ("one", "other"), [("straße", "STRASSE"), ("ﬁnal", "final"), ("a\u00a0", "a")]
)
def test_two_names_of_a_send_are_two_rows_in_the_table(desk: Desk, one: str, other: str) -> None:
    """The table would swallow the second send otherwise. spec: O1, K3"""
    table = SentTable(desk.store)
    lease = desk.lease()
    for name in (one, other):
        answer = table.send(desk.mailbox(), desk.message(lease), name)
        assert isinstance(answer, Sent)
        assert not answer.replay
    assert len(desk.transport.taken) == 2


def test_the_fixed_message_is_fine(desk: Desk) -> None:
    """What the others are made from is taken, so that each is refused for what it changes."""
    lease = desk.lease()
    assert isinstance(desk.mailbox().send(desk.message(lease)), Sent)
    message: Message = desk.message(lease, **REPLY, refers_to="<1@acme.com>")
    assert isinstance(desk.mailbox().reply(message), Sent)
