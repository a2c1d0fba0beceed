"""A receiving mailbox that can be asked for a message by its Message-ID.

Plain SMTP has no such question; providers answer it over an interface of their own. Here it is a
private verb of the same server (RFC 5321, section 4.1.5: such verbs begin with X), so that a target's
look-up asks the side that knows.
"""

from __future__ import annotations

from collections.abc import Callable

from aiosmtpd.smtp import SMTP, Envelope, Session, syntax

from .sink import Handler

VERB = "XFIND"
"""Offered in the reply to EHLO; ``XFIND <id>`` is answered with 250 or, for certain, with 550."""
HERE = "250 2.0.0 it is here"
NOT_HERE = "550 5.1.0 no message of that id is here"
Has = Callable[[str], bool]


class _Searchable(SMTP):
    """The server's side of one connection, with the verb.

    Args:
        handler: What the server does with messages.
        has: Whether a message of an id arrived.
        name: The server's own.
    """

    def __init__(self, handler: Handler, has: Has, name: str) -> None:
        super().__init__(_Offering(handler), hostname=name, enable_SMTPUTF8=True, ident=name)
        self._has = has

    @syntax("XFIND <message-id>")
    async def smtp_XFIND(self, message_id: str) -> None:  # noqa: N802 - aiosmtpd's hook
        """Say whether the message is here."""
        await self.push(HERE if self._has(message_id.strip()) else NOT_HERE)


class _Offering:
    """The handler, with the verb offered in the reply to EHLO."""

    def __init__(self, handler: Handler) -> None:
        self.handle_RCPT = handler.handle_RCPT
        self.handle_DATA = handler.handle_DATA

    async def handle_EHLO(  # noqa: N802 - aiosmtpd's hook
        self,
        server: SMTP,  # noqa: ARG002
        session: Session,
        envelope: Envelope,  # noqa: ARG002
        hostname: str,
        responses: list[str],
    ) -> list[str]:
        """Offer the verb; the last line stays the last."""
        session.host_name = hostname
        return [*responses[:-1], f"250-{VERB}", responses[-1]]


def searchable(handler: Handler, has: Has, name: str) -> Callable[[], SMTP]:
    """What makes the protocol of each connection."""
    return lambda: _Searchable(handler, has, name)
