"""Hands mail to an SMTP server and tells apart what was refused and what is not known."""

from __future__ import annotations

import contextlib
import smtplib

from leaserace.harness.contract import NoAnswer, Outgoing, Rejected

OK = range(200, 300)
FIND = "XFIND"
"""A private verb by which some servers can be asked for a message; see `SmtpTransport.find`."""
FOUND = {250: True, 550: False}


class SmtpTransport:
    """One connection a message; nothing is ever tried twice here (spec: S8).

    Args:
        host: Of the server.
        port: Of the server.
        timeout_s: How long each step may take.
        search: Ask the server for a message of an unknown outcome, if it offers that.
    """

    def __init__(self, host: str, port: int, timeout_s: float, *, search: bool = False) -> None:
        self._host = host
        self.port = port
        self._timeout_s = timeout_s
        self._search = search

    def hand_over(self, outgoing: Outgoing) -> None:
        """Hand one message over.

        Raises:
            Rejected: The server refused it, or was never asked: nothing was taken.
            NoAnswer: It was sent and the answer did not come: it may have been taken.
        """
        smtp = self._greeted(outgoing)
        try:
            self._send_data(smtp, outgoing.data)
        finally:
            _leave(smtp)

    def find(self, message_id: str) -> bool | None:
        """Whether the server has a message of this id; None if it can't be asked.

        Plain SMTP has no question for it: then an unknown send stays unknown (spec: K10). A server
        that offers ``XFIND <message-id>`` after EHLO answers 250 or 550. Where a provider has a search
        of its own, a transport that calls it belongs here.

        Raises:
            OSError: The server was not reached; nothing was learned.
        """
        if not self._search:
            return None
        smtp = smtplib.SMTP(timeout=self._timeout_s)
        try:
            smtp.connect(self._host, self.port)
            smtp.ehlo_or_helo_if_needed()
            answer = smtp.docmd(FIND, message_id) if smtp.has_extn(FIND) else (0, b"")
        finally:
            _leave(smtp)
        return FOUND.get(answer[0])

    def _greeted(self, outgoing: Outgoing) -> smtplib.SMTP:
        """Come as far as a recipient the server accepts; whatever fails here, nothing was taken."""
        smtp = smtplib.SMTP(timeout=self._timeout_s)
        try:
            smtp.connect(self._host, self.port)
            smtp.ehlo_or_helo_if_needed()
            _accepted(smtp.mail(outgoing.sender, _options(smtp, outgoing)), "MAIL")
            _accepted(smtp.rcpt(outgoing.recipient), "RCPT")
        except (OSError, smtplib.SMTPException) as error:
            _leave(smtp)
            raise Rejected(f"before DATA: {type(error).__name__}: {error}") from error
        except Rejected:
            _leave(smtp)
            raise
        return smtp

    def _send_data(self, smtp: smtplib.SMTP, data: bytes) -> None:
        """From here on only a clear answer is one (spec: S8, K10)."""
        try:
            answer = smtp.data(data)
        except smtplib.SMTPDataError as error:
            raise Rejected(f"DATA: {error.smtp_code} {error.smtp_error!r}") from error
        except (OSError, smtplib.SMTPException) as error:
            raise NoAnswer(f"after DATA: {type(error).__name__}: {error}") from error
        _accepted(answer, "DATA")


def _options(smtp: smtplib.SMTP, outgoing: Outgoing) -> list[str]:
    """What MAIL must ask for where the recipient is not ASCII."""
    if outgoing.recipient.isascii():
        return []
    if not smtp.has_extn("smtputf8"):
        raise Rejected("the server takes ASCII addresses only")
    return ["SMTPUTF8", "BODY=8BITMIME"]


def _accepted(answer: tuple[int, bytes], step: str) -> None:
    code, text = answer
    if code not in OK:
        raise Rejected(f"{step}: {code} {text.decode(errors='replace')}")


def _leave(smtp: smtplib.SMTP) -> None:
    """Hang up; how that goes says nothing about the message."""
    with contextlib.suppress(OSError):
        smtp.close()
