"""Addresses from the published lists of odd ones.

Sources, quoted from memory of the public texts:

- RFC 3696, section 3, with errata 1003 and 1690 (J. Klensin: "Application Techniques for Checking and
  Transformation of Names").
- Wikipedia, "Email address", sections "Valid email addresses", "Invalid email addresses" and
  "Internationalization examples".
- D. Sayers, ``is_email``, its test set ``tests.xml`` (BSD licence).
- C. Chaiyochlarb, "Email Address Test Cases" (MSDN blog, 2006), as copied in many libraries.

Three kinds: those that mail can go to, those that RFC 5321 allows and no provider of note takes (quoted local
parts, address literals, comments), which are refused by the part that is wrong, and those that are
no address.
"""

from __future__ import annotations

RFC_3696 = (
    "customer/department=shipping@example.com",
    "$A12345@example.com",
    "!def!xyz%abc@example.com",
    "_somename@example.com",
    "user+mailbox@example.com",
)
WIKIPEDIA = (
    "simple@example.com",
    "very.common@example.com",
    "FirstName.LastName@EasierReading.org",
    "x@example.com",
    "long.email-address-with-hyphens@and.subdomains.example.com",
    "user.name+tag+sorting@example.com",
    "name/surname@example.com",
    "example@s.example",
    "mailhost!username@example.org",
    "user%example.com@example.org",
    "user-@example.org",
    "I❤️CHOCOLATE@example.com",
    "Pelé@example.com",
    "δοκιμή@παράδειγμα.δοκιμή",
    "我買@屋企.香港",
    "二ノ宮@黒川.日本",
    "медведь@с-балалайкой.рф",  # noqa: RUF001 - it is Russian
    "संपर्क@डाटामेल.भारत",
)
IS_EMAIL = (
    "test@iana.org",
    "test@nominet.org.uk",
    "test@about.museum",
    "a@iana.org",
    "test@e.com",
    "test.test@iana.org",
    "!#$%&`*+/=?^`{|}~@iana.org",
    "123@iana.org",
    "test@123.com",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijkl@iana.org",
    "test@mason-dixon.com",
    "test@g--a.com",
    "test@iana.org.",
    "xn--test@iana.org",
    "test@xn--hxajbheg2az3al.xn--jxalpdlp",
    "\r\n test@iana.org",
    "test@iana.org\r\n",
)
MSDN = (
    "firstname.lastname@domain.com",
    "email@subdomain.domain.com",
    "firstname+lastname@domain.com",
    "1234567890@domain.com",
    "email@domain-one.com",
    "_______@domain.com",
    "email@domain.name",
    "email@domain.co.jp",
    "firstname-lastname@domain.com",
    "Joe Smith <email@domain.com>",
    "あいうえお@domain.com",
)
VALID = (*RFC_3696, *WIKIPEDIA, *IS_EMAIL, *MSDN)
"""Mail can go to these."""

REFUSED = (
    # RFC 3696, quoted forms.
    r'"Abc\@def"@example.com',
    r'"Fred\ Bloggs"@example.com',
    r'"Joe.\\Blow"@example.com',
    '"Abc@def"@example.com',
    '"Fred Bloggs"@example.com',
    # Wikipedia.
    "admin@example",
    '" "@example.org',
    '"john..doe"@example.org',
    r'"very.(),:;<>[]\".VERY.\"very@\\ \"very\".unusual"@strange.example.com',
    "postmaster@[123.123.123.123]",
    "postmaster@[IPv6:2001:0db8:85a3:0000:0000:8a2e:0370:7334]",
    # is_email.
    "test@io",
    '"test"@iana.org',
    '""@iana.org',
    r'"\a"@iana.org',
    r'"\""@iana.org',
    r'"\\"@iana.org',
    r'"test\ test"@iana.org',
    "test@[255.255.255.255]",
    "test@[IPv6:1111:2222:3333:4444:5555:6666:7777:8888]",
    "test@[RFC-5322-domain-literal]",
    "(comment)test@iana.org",
    "test.(comment)test@example.com",
    # MSDN.
    '"email"@domain.com',
    "email@123.123.123.123",
    "email@domain.com (Joe Smith)",
)
"""RFC 5321 and 5322 allow these; they are refused on purpose."""

INVALID = (
    # RFC 3696 as first published; errata 1003 says that they need quotes.
    r"Abc\@def@example.com",
    r"Fred\ Bloggs@example.com",
    r"Joe.\\Blow@example.com",
    # Wikipedia.
    "abc.example.com",
    "a@b@c@example.com",
    'a"b(c)d,e:f;g<h>i[j\\k]l@example.com',
    'just"not"right@example.com',
    'this is"not\\allowed@example.com',
    'this\\ still\\"not\\\\allowed@example.com',
    "1234567890123456789012345678901234567890123456789012345678901234+x@example.com",
    "i.like.underscores@but_they_are_not_allowed_in_this_part",
    # is_email.
    "",
    "test",
    "@",
    "test@",
    "@io",
    "@iana.org",
    ".test@iana.org",
    "test.@iana.org",
    "test..iana.org",
    "test_exa-mple.com",
    r"test\@test@iana.org",
    "test@iana.123",
    "test@255.255.255.255",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm@iana.org",
    "test@abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm.com",
    "test@-iana.org",
    "test@iana-.com",
    "test@.iana.org",
    "test@iana..com",
    '"""@iana.org',
    '"\\"@iana.org',
    'test"@iana.org',
    '"test@iana.org',
    '"test"test@iana.org',
    'test"text"@iana.org',
    '"test""test"@iana.org',
    '"test"."test"@iana.org',
    '"test".test@iana.org',
    '"test\x00"@iana.org',
    "test@a[255.255.255.255]",
    "test@[255.255.255]",
    "test@[IPv6::::]",
    " test @iana.org",
    "test@ iana .com",
    "test . test@iana.org",
    "((comment)test@iana.org",
    "test(comment)test@iana.org",
    '"\rtest"@iana.org',
    "(\r)test@iana.org",
    "test@iana.org(\r)",
    '"\n"@iana.org',
    "\x07@iana.org",
    "test@\x07.org",
    "test@iana/icann.org",
    "test@iana!icann.org",
    "test@iana?icann.org",
    "test@[RFC-5322]-domain-literal]",
    "test@iana.org-",
    "test\x00@iana.org",
    # MSDN.
    "plainaddress",
    "#@%^%#$@#$@#.com",
    "@domain.com",
    "email.domain.com",
    "email@domain@domain.com",
    ".email@domain.com",
    "email.@domain.com",
    "email..email@domain.com",
    "email@domain",
    "email@-domain.com",
    "email@111.222.333.44444",
    "email@domain..com",
    # Ours: what a mail program or a parser may read as something else.
    "=?utf-8?q?=0D=0ABcc:_x?=@acme.com",
    "=?utf-8?q?jane?=@acme.com",
    "jane@acme.com\u200b",
    "jane\u200b@acme.com",
    "\u202ejane@acme.com",
    "ja\u00adne@acme.com",
    "jane\uff20acme.com",
    "<jane@acme.com",
    "<<jane@acme.com>>",
    "mailto:jane@acme.com",
    "jane@acme.com?subject=x",
    "undisclosed-recipients:;",
    "staff: jane@acme.com;",
    "jane@acme.com <bob@acme.com>",
    "\ud83d@acme.com",
    "jane@localhost",
    "jane@acme.com%00.evil.example",
    "a" * 1_000_000 + "@acme.com",
    "@" * 1_000,
    "a@" + "b." * 100_000 + "com",
    "x" * 1_000 + " <jane@acme.com>",
)
"""No address."""
