"""The reference as a target that is killed: what it committed is on the disk (spec: S8, K10, X4).

Every commit waits for the disk (``synchronous=FULL``), and a send of unknown outcome is settled by
asking the receiving side for its Message-ID, where that side can be asked.
"""

from __future__ import annotations

from dataclasses import replace

from leaserace.harness.contract import Environment, Transport

from .policy import Policy
from .target import ReferenceTarget, policy_of
from .transports.smtp import SmtpTransport

ABSENT_AFTER_S = 1.0
"""A receiving mailbox on this host has a message within milliseconds, or never."""


class DurableTarget(ReferenceTarget):
    """The reference on a store that waits for the disk."""

    full_sync = True

    def policy_for(self, env: Environment) -> Policy:
        """The policy in force; without a file, "no such message" is believed soon."""
        policy = policy_of(env)
        if env.policy_file is not None:
            return policy
        return replace(policy, absent_after_s=ABSENT_AFTER_S)

    def transport_for(self, env: Environment, policy: Policy) -> Transport:
        """SMTP, and a server that offers it is asked for a message."""
        if env.transport is not None:
            return env.transport
        host, port = env.smtp
        return SmtpTransport(host, port, policy.transport_timeout_s, search=True)


target = DurableTarget()
