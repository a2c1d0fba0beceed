"""A history in the forms other checkers read, so that others can check us.

- ``jepsen.jsonl``: every operation as a Jepsen history has it (type, f, value, process, time, index).
- ``elle-tokens.json``, ``set-sends.json`` and ``counter-sends.json``: see `elle`.
- ``porcupine.jsonl`` and ``porcupine_model.go``: operations with call and return time, and the model of
  a lease with a token.

What a form can't say is left out and counted in ``export.json``; nothing is invented.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from .elle import TYPES, Processes, counter_of_sends, elle_tokens, operations_of, set_of_sends
from .history import AnyEvent, OpType

FORMS = ("jepsen", "elle", "porcupine")
_LEASE = frozenset({"acquire", "renew", "release", "send"})


# -- Jepsen ------------------------------------------------------------------------------------


def jepsen(events: Iterable[AnyEvent]) -> Iterator[dict[str, Any]]:
    """A history as Jepsen has it; ``error`` holds the code of a refusal.

    Args:
        events: Of one race.
    """
    processes = Processes()
    for index, (event, _) in enumerate(operations_of(events)):
        value = {"contact": event.contact, **event.value}
        line = {
            "index": index,
            "type": TYPES[event.type],
            "process": processes[event.process],
            "f": event.f,
            "value": value,
            "time": event.t,
        }
        if event.code:
            line["error"] = event.code
        yield line


# -- Porcupine ---------------------------------------------------------------------------------


def porcupine(events: Iterable[AnyEvent]) -> Iterator[dict[str, Any]]:
    """Operations as Porcupine's `Operation`, for the model in ``porcupine_model.go``.

    One that never ended, or whose outcome is unknown, returns after all others.

    Args:
        events: Of one race.
    """
    clients = Processes()
    kept = list(events)
    last_ns = max((event.t for event in kept), default=0) + 1
    operations = [
        op for event, op in operations_of(kept) if event.type is OpType.INVOKE and op.f in _LEASE
    ]
    for op in operations:
        unknown = op.completed_ns is None or op.type is OpType.INFO
        message = op.args.get("message") or {}
        yield {
            "ClientId": clients[op.process],
            "Input": {
                "Op": op.f,
                "Contact": op.contact,
                "Agent": op.agent,
                "Token": message.get("token") or op.args.get("token") or 0,
            },
            "Call": op.invoked_ns,
            "Output": {
                "Unknown": unknown,
                "Ok": op.type is OpType.OK and not op.answer.get("replay", False),
                "Token": op.answer.get("token") or 0,
                "Code": op.code or "",
            },
            "Return": last_ns if unknown else op.completed_ns,
        }


MODEL = """// The model of a contact's lease with its fencing token, for Porcupine.
//
//   ops := load("porcupine.jsonl")            // one porcupine.Operation a line
//   porcupine.CheckOperations(Model, ops)
//
// Leases end by time, which is no operation, so a refusal is always possible; what must hold is
// that tokens rise with every grant, and that only the newest token renews, releases or sends.
package leaserace

import (
	"bufio"
	"encoding/json"
	"os"

	"github.com/anishathalye/porcupine"
)

type Input struct {
	Op      string
	Contact string
	Agent   string
	Token   int64
}

type Output struct {
	Unknown bool
	Ok      bool
	Token   int64
	Code    string
}

type State struct {
	Token int64
	Owner string
}

var Model = porcupine.Model{
	Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
		byContact := map[string][]porcupine.Operation{}
		for _, op := range history {
			contact := op.Input.(Input).Contact
			byContact[contact] = append(byContact[contact], op)
		}
		parts := [][]porcupine.Operation{}
		for _, part := range byContact {
			parts = append(parts, part)
		}
		return parts
	},
	Init: func() interface{} { return State{} },
	Step: func(state, input, output interface{}) (bool, interface{}) {
		st, in, out := state.(State), input.(Input), output.(Output)
		if out.Unknown || !out.Ok {
			return true, st
		}
		switch in.Op {
		case "acquire":
			return out.Token > st.Token, State{Token: out.Token, Owner: in.Agent}
		case "renew":
			return in.Token == st.Token && in.Agent == st.Owner, st
		case "release", "send":
			return in.Token == 0 || (in.Token == st.Token && in.Agent == st.Owner), st
		}
		return true, st
	},
}

func load(path string) ([]porcupine.Operation, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	ops := []porcupine.Operation{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct {
			ClientId     int
			Input        Input
			Call, Return int64
			Output       Output
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, err
		}
		ops = append(ops, porcupine.Operation{
			ClientId: line.ClientId,
			Input:    line.Input,
			Call:     line.Call,
			Output:   line.Output,
			Return:   line.Return,
		})
	}
	return ops, lines.Err()
}
"""


# -- files -------------------------------------------------------------------------------------

Maker = Callable[[list[AnyEvent], Counter[str]], Iterable[Mapping[str, Any]]]
_FILES: Mapping[str, Mapping[str, Maker]] = {
    "jepsen": {"jepsen.jsonl": lambda events, _: jepsen(events)},
    "elle": {
        "elle-tokens.json": elle_tokens,
        "set-sends.json": lambda events, _: set_of_sends(events),
        "counter-sends.json": lambda events, _: counter_of_sends(events),
    },
    "porcupine": {"porcupine.jsonl": lambda events, _: porcupine(events)},
}


def write(events: Iterable[AnyEvent], folder: Path, forms: Iterable[str] = FORMS) -> list[Path]:
    """Write one race's history in other checkers' forms.

    Args:
        events: Of one race.
        folder: Where; made if absent.
        forms: Out of `FORMS`.

    Returns:
        The files, in order.
    """
    kept = list(events)
    folder.mkdir(parents=True, exist_ok=True)
    left: Counter[str] = Counter()
    written: list[Path] = []
    for form in forms:
        for name, make in _FILES[form].items():
            rows = [msgspec.json.encode(row) for row in make(kept, left)]
            path = folder / name
            if name.endswith(".jsonl"):
                path.write_bytes(b"".join(row + b"\n" for row in rows))
            else:
                path.write_bytes(b"[" + b",\n".join(rows) + b"]\n")
            written.append(path)
        if form == "porcupine":
            model = folder / "porcupine_model.go"
            model.write_text(MODEL, encoding="utf-8")
            written.append(model)
    notes = {"left out of elle-tokens.json": dict(sorted(left.items()))}
    (folder / "export.json").write_bytes(msgspec.json.format(msgspec.json.encode(notes)) + b"\n")
    return [*written, folder / "export.json"]


__all__ = ["FORMS", "jepsen", "porcupine", "write"]
