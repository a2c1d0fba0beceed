"""Contact leases and idempotent sending, written to be read beside the spec and ported.

Read it in this order; each module is one noun, and each safeguard in it is one method that names the
rule it keeps:

=============  ========  =============================================================================
module         spec      what it does
=============  ========  =============================================================================
identity       I         addresses to recipient keys (contacts: a whole list, checked)
policy         L10       every length and limit
leases         L, S3     who may work on a contact now, and whether a send holds its lease
idempotency    K         one logical send, however often it is asked for
recipes        K7        how the caller's code makes a key
suppression    C1, C7    the list nobody gets past
inbound        O4, C6    what contacts write, and how they opt out (wording: in which words)
cooldown       S5, C2-5  one timeline a contact: cooldown, contact load, override
lint           O6        what is wrong with a message, before its key is looked at
letters        C6, S8    a message on its way out: its opt-out and its bytes
budgets        O5        circuit breaker, and what an agent may do without a person
sending        S         the six steps, then the delivery
outbox         S8, S9    the send record and its states
inquiry        R, S9     unknown sends, settled by what the receiving side has
outcomes       R         refusals, strongest first
texts          C4, R3    what a reason may hold before it is written down
escalation     R2        a conflict that keeps coming back
audit          R3        every decision, in commit order
cleanup        L4, K5    old rows go, what decides stays
orchestration  O1-O3     the layers in front of the key: a table of what was sent, and checkpoints
mailbox                  all of it together, for one agent
target                   the mailbox as the harness starts it
records        L2        the rows; stores/ keeps them, transports/ hands mail over
=============  ========  =============================================================================
"""
