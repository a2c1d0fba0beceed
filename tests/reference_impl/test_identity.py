"""One person, one key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leaserace.harness.contract import UsageError
from leaserace.reference_impl.contacts import check_contacts
from leaserace.reference_impl.identity import InvalidAddress, address_rules, contact_key
from leaserace.reference_impl.policy import Policy

ACME = Policy(
    addresses=address_rules(
        aliases={"Acme.co.uk": "acme.com", "münchen.example": "acme.com"},
        ignore_dots=["dotless.org"],
        ignore_tags=["acme.com"],
    )
)
PLAIN = Policy()


def key_of(address: str, policy: Policy = PLAIN) -> str:
    return contact_key(address, policy).key


@pytest.mark.parametrize(
    "spelling",
    [
        "jane.doe@acme.com",
        "Jane.Doe@Acme.com",
        "JANE.DOE@ACME.COM",
        "  jane.doe@acme.com\n",
        "jane.doe@acme.com.",
        "Jane Doe <Jane.Doe@acme.com>",
        '"Doe, Jane" <jane.doe@ACME.com.>',
        "<jane.doe@acme.com>",
        "jane.doe@acme。com",
    ],
)
def test_every_spelling_of_an_address_is_one_key(spelling: str) -> None:
    """spec: I1, I2, I3"""
    assert key_of(spelling) == "jane.doe@acme.com"


@pytest.mark.parametrize(
    "spelling",
    ["user@xn--mnchen-3ya.de", "user@münchen.de", "USER@MÜNCHEN.DE", "user@mu\u0308nchen.de."],
)
def test_unicode_and_punycode_forms_of_a_domain_are_one(spelling: str) -> None:
    """spec: I2, X6"""
    assert key_of(spelling) == "user@xn--mnchen-3ya.de"


def test_sharp_s_is_a_letter_of_its_own() -> None:
    """spec: I2"""
    assert key_of("x@faß.de") != key_of("x@fass.de")


def test_composed_and_decomposed_local_parts_are_one() -> None:
    """spec: I3, X6"""
    assert key_of("Jose\u0301@acme.com") == key_of("josé@acme.com") == "josé@acme.com"
    assert key_of("\u0130@acme.com") == key_of(key_of("\u0130@acme.com"))


def test_look_alike_letters_are_two_persons() -> None:
    """spec: I3"""
    assert key_of("p\u0430ypal@acme.com") != key_of("paypal@acme.com")


@pytest.mark.parametrize(
    "spelling",
    [
        "jane.doe@gmail.com",
        "JaneDoe@googlemail.com",
        "janedoe+news@gmail.com",
        "j.a.n.e.doe@GMail.com",
    ],
)
def test_gmail_dots_tags_and_second_domain_are_built_in(spelling: str) -> None:
    """spec: I2, I3, X6"""
    assert key_of(spelling) == "janedoe@gmail.com"


def test_dots_and_tags_are_kept_where_no_rule_says_otherwise() -> None:
    """spec: I3"""
    assert key_of("jane.doe+news@acme.com") == "jane.doe+news@acme.com"


def test_the_policy_adds_aliases_and_folding() -> None:
    """spec: I2, I3"""
    assert key_of("jane+x@ACME.co.uk", ACME) == "jane@acme.com"
    assert key_of("jane@xn--mnchen-3ya.example", ACME) == "jane@acme.com"
    assert key_of("ja.ne+x@dotless.org", ACME) == "jane+x@dotless.org"
    assert key_of("jane@googlemail.com", ACME) == "jane@gmail.com"


def test_mail_goes_to_the_address_as_it_was_spelled() -> None:
    """A key is for comparing; nobody is written to under it. spec: I1"""
    assert contact_key("Jane.Doe+x@GoogleMail.com", PLAIN).address == "Jane.Doe+x@googlemail.com"
    assert contact_key("x@münchen.de", PLAIN).address == "x@xn--mnchen-3ya.de"
    unicode = contact_key("josé@münchen.de", PLAIN)
    assert unicode.address == "josé@münchen.de"
    assert not unicode.ascii_only


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "@-sign"),
        ("jane", "@-sign"),
        ("@acme.com", "before the @-sign"),
        ("jane@", "after the @-sign"),
        ("ja ne@acme.com", "before the @-sign"),
        ("jane@acme..com", "two periods"),
        ("jane@localhost", "after the @-sign"),
        ("a@x.com, Jane <b@x.com>", "after the @-sign"),
        ("Jane\r\nBcc: x@y.com <jane@acme.com>", r"\\r\\nBcc"),
        ("+news@gmail.com", "before the @-sign"),
        ("x" * 300 + "@acme.com", "…"),
    ],
)
def test_what_is_no_address_is_refused_by_the_part_that_is_wrong(text: str, part: str) -> None:
    """spec: I4"""
    with pytest.raises(InvalidAddress, match=part):
        contact_key(text, PLAIN)


@given(
    st.from_regex(
        r"[A-Za-z0-9][A-Za-z0-9._+-]{0,10}[A-Za-z0-9]@[A-Za-z]{1,8}\.(com|org)", fullmatch=True
    )
)
def test_a_key_is_its_own_key_in_any_casing(address: str) -> None:
    """spec: I1"""
    try:
        key = key_of(address)
    except InvalidAddress:
        return
    assert key_of(key) == key == key_of(address.upper()) == key_of(address.swapcase())


def test_an_alias_of_an_alias_is_refused_with_the_remedy() -> None:
    """spec: I2"""
    with pytest.raises(UsageError, match=r"'a\.com' points to 'googlemail\.com'.*'gmail\.com'"):
        address_rules(aliases={"a.com": "googlemail.com"})


def test_an_alias_that_is_no_domain_is_refused() -> None:
    """spec: I2"""
    with pytest.raises(UsageError, match="'not a domain' is no domain"):
        address_rules(aliases={"not a domain": "acme.com"})


def test_a_contact_list_is_checked_before_anything_is_automated() -> None:
    """spec: I5"""
    found = check_contacts(
        [
            "Jane@acme.com",
            "jane@ACME.com",
            "j\u0430ne@acme.com",
            "bob@acme.com",
            "jane+x@acme.com",
            "nobody",
        ],
        PLAIN,
    )
    assert found.one_person == {"jane@acme.com": ("Jane@acme.com", "jane@ACME.com")}
    assert found.look_alike == (("jane@acme.com", "j\u0430ne@acme.com", "jane+x@acme.com"),)
    assert list(found.no_address) == ["nobody"]
    assert "@-sign" in found.no_address["nobody"]
