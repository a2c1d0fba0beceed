"""The columns of the frames: their order, their types and what they say."""

from __future__ import annotations

from collections.abc import Mapping

TEXT, MS, WHOLE, FLAG = "string", "float64", "Int64", "boolean"

_RACE = {"race": (TEXT, "the race it belongs to")}
COLUMNS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "operations": _RACE
    | {
        "op": (TEXT, "id that joins invoke and completion, unique in a race"),
        "agent": (TEXT, "who called"),
        "process": (TEXT, "logical client; a new one after each unknown outcome"),
        "contact": (TEXT, "the person, the same for every spelling"),
        "f": (TEXT, "the mailbox method"),
        "address": (TEXT, "the recipient as the agent spelled it"),
        "outcome": (TEXT, "ok, fail, info (unknown) or invoke (never answered)"),
        "code": (TEXT, "refusal code, or why the outcome is unknown"),
        "token": (WHOLE, "fencing token granted, else the one given"),
        "invoked_ms": (MS, "when it began"),
        "completed_ms": (MS, "when it ended; missing while unanswered"),
        "duration_ms": (MS, "between the two"),
    },
    "leases": _RACE
    | {
        "contact": (TEXT, "the person"),
        "agent": (TEXT, "who held it"),
        "token": (WHOLE, "fencing token"),
        "granted_ms": (MS, "when the store granted it"),
        "ended_ms": (MS, "when it ended"),
        "held_ms": (MS, "between the two"),
        "waited_ms": (MS, "since the agent's first refused ask for the contact"),
        "ended_by": (TEXT, "released, freed by another agent, expired, open"),
        "overlaps": (FLAG, "another grant of the contact began while it lived"),
        "renewals": (WHOLE, "how often it was renewed"),
        "op": (TEXT, "the acquire that got it"),
    },
    "sends": _RACE
    | {
        "op": (TEXT, "id of the call"),
        "agent": (TEXT, "who sent"),
        "contact": (TEXT, "the person"),
        "intent": (TEXT, "id of the logical send; retries share it"),
        "key": (TEXT, "idempotency key"),
        "token": (WHOLE, "fencing token it was sent under"),
        "outcome": (TEXT, "as in operations"),
        "code": (TEXT, "as in operations"),
        "message_id": (TEXT, "Message-ID of the answer"),
        "replay": (FLAG, "an earlier call did the work"),
        "arrived": (WHOLE, "messages of this intent that had reached the mailbox when it ended"),
        "invoked_ms": (MS, "when it began"),
        "completed_ms": (MS, "when it ended"),
    },
    "refusals": _RACE
    | {
        "op": (TEXT, "id of the call"),
        "agent": (TEXT, "who was refused"),
        "contact": (TEXT, "the person"),
        "f": (TEXT, "the mailbox method"),
        "code": (TEXT, "why"),
        "owner": (TEXT, "who held the lease, if the answer says"),
        "repeat": (WHOLE, "the how-manieth such refusal of this agent on this contact in a row"),
        "t_ms": (MS, "when the answer came"),
    },
    "faults": _RACE
    | {
        "agent": (TEXT, "whom it struck; empty for store and transport"),
        "fault": (TEXT, "pause, crash, lost_reply, slow_reply, hold, skew, transport"),
        "point": (TEXT, "where it was aimed"),
        "begin_ms": (MS, "when it began"),
        "end_ms": (MS, "when it ended; missing if never"),
        "detail": (TEXT, "figures, as JSON"),
    },
    "deliveries": _RACE
    | {
        "t_ms": (MS, "when it arrived"),
        "intent": (TEXT, "its logical send"),
        "contact": (TEXT, "the person; empty if no send names the intent"),
        "agent": (TEXT, "who asked for it last before it arrived"),
        "message_id": (TEXT, "Message-ID header"),
        "recipient": (TEXT, "envelope recipient"),
        "number": (WHOLE, "1 for the first of its intent"),
        "duplicate": (FLAG, "number above 1"),
        "replied": (FLAG, "false if the receiving side dropped its reply"),
    },
    "decisions": _RACE
    | {
        "seq": (WHOLE, "position in the commit order"),
        "at_store_ms": (WHOLE, "the store's now"),
        "actor": (TEXT, "agent or person that asked"),
        "event": (TEXT, "the operation"),
        "key": (TEXT, "recipient key"),
        "decision": (TEXT, "granted, authorized, delivered, ... or a refusal code"),
        "token": (WHOLE, "fencing token it was about"),
        "owner": (TEXT, "lease owner in the state used"),
        "reasons": (TEXT, "every refusal that held, strongest first"),
        "message_id": (TEXT, "resulting Message-ID"),
        "idempotency_key": (TEXT, "key of the send"),
        "state": (TEXT, "policy state the decision was made on, as JSON"),
    },
}
"""Frame to its columns, in order, each with its type and what it says."""
