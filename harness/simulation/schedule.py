"""A schedule: everything that reproduces a run, as one line of text that needs no quoting.

``lr1/<subject>/<policy>/<grain>/<code>/<choices>/<check>``: the version, what runs, under which policy
variant, at which points agents may stand (``c`` coarse, ``f`` fine), hashes of the target's code, the
rules' and the harness's with dots between, the choices, and a checksum over all of it. The first schedules
had a hash of the target only; they are still read.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from ..contract import Target, UsageError
from .choices import BadChoices, decode, encode
from .subjects import POLICIES, Subject, parse

VERSION = "lr1"
_CODE_CHARACTERS = 8
_CHECK_CHARACTERS = 6
_HARNESS = __package__.rpartition(".")[0]
_RULES_FOLDER = "rules"
_COMMENT = "#"
_TEXT = re.compile(r"lr\d+/")
_TRACE = re.compile(r"#\s*trace:\s*([0-9a-f]{32})\s*$", re.MULTILINE)
_RULE = re.compile(r"#\s*rule:\s*(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What reproduces a run.

    Args:
        subject: What runs, as `subjects.parse` reads it.
        policy: Name of the policy variant.
        code: Of the code when it was recorded, as `code_hash` gives it.
        choices: Every choice, in order.
        coarse: Nobody stood still inside a section, or between an invoke and its call.
    """

    subject: str
    policy: str
    code: str
    choices: tuple[int, ...]
    coarse: bool = False

    def to_text(self) -> str:
        """The schedule as one line."""
        grain = "c" if self.coarse else "f"
        fields = (VERSION, self.subject, self.policy, grain, self.code, encode(self.choices))
        body = "/".join(fields)
        return f"{body}/{_check(body)}"

    @classmethod
    def from_text(cls, text: str) -> Schedule:
        """Read a schedule.

        Raises:
            UsageError: It is cut, of another version, or names what there is not.
        """
        line = _only_line(text)
        shown = line if len(line) <= 60 else f"{line[:40]}…{line[-12:]}"
        if not line.startswith(f"{VERSION}/"):
            version = line.split("/")[0][:12]
            raise UsageError(
                f"schedule {shown!r} is of version {version!r}; this leaserace reads {VERSION!r}"
            )
        body, _, check = line.rpartition("/")
        fields = body.split("/")
        if len(fields) != 6 or check != _check(body):
            raise UsageError(
                f"schedule {shown!r} is cut or changed: its checksum is {check!r}, "
                f"that of its text {_check(body)!r}; copy the whole line"
            )
        _, subject, policy, grain, code, choices = fields
        parse(subject)
        if policy not in POLICIES:
            raise UsageError(f"schedule {shown!r}: no policy variant is called {policy!r}")
        try:
            decoded = decode(choices)
        except BadChoices as error:
            raise UsageError(f"schedule {shown!r}: {error}") from error
        if grain not in {"c", "f"}:
            raise UsageError(f"schedule {shown!r}: no grain is called {grain!r}")
        return cls(
            subject=subject,
            policy=policy,
            code=code,
            choices=tuple(decoded),
            coarse=grain == "c",
        )

    def to_subject(self) -> Subject:
        """What it runs."""
        return parse(self.subject)

    @property
    def identity(self) -> tuple[str, str, str]:
        """Hashes of the target's code, the rules' and the harness's; "" what an early schedule does not tell."""
        target, rules, harness = (*self.code.split(".", 2), "", "")[:3]
        return target, rules, harness


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A schedule as it was read.

    Args:
        schedule: The schedule.
        trace: Hash of everything that happened, or "".
        rule: The rule it broke, or "".
    """

    schedule: Schedule
    trace: str = ""
    rule: str = ""


def _only_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(_COMMENT)]
    if len(lines) != 1:
        raise UsageError(f"a schedule is one line; {len(lines)} were given")
    return lines[0]


def _check(body: str) -> str:
    return hashlib.blake2b(body.encode(), digest_size=8).hexdigest()[:_CHECK_CHARACTERS]


def save(
    path: Path,
    schedule: Schedule,
    *,
    target: str,
    finding: str = "",
    trace: str = "",
    rule: str = "",
) -> None:
    """Write a schedule with what a reader wants to know, as comments.

    Args:
        path: The file; its folder is made.
        schedule: What to write.
        target: Name of the target.
        finding: What it shows.
        trace: Hash of everything that happened.
        rule: The rule that is broken.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    text = schedule.to_text()
    lines = [f"# {finding}"] if finding else []
    lines.append(f"# leaserace replay --target {target} {text}")
    if rule:
        lines.append(f"# rule: {rule}")
    if trace:
        lines.append(f"# trace: {trace}")
    path.write_text("\n".join([*lines, text, ""]), encoding="utf-8")


def load(source: str) -> Recorded:
    """Read a schedule, and what is written beside it, from a file or from its text.

    Raises:
        UsageError: There is none.
    """
    text = source
    if not _TEXT.match(source):
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UsageError(
                f"schedule {source!r:.80}: no schedule's text, and no file of one ({error})"
            ) from error
    trace, rule = _TRACE.search(text), _RULE.search(text)
    return Recorded(
        schedule=Schedule.from_text(text),
        trace=trace.group(1) if trace else "",
        rule=rule.group(1) if rule else "",
    )


def code_hash(target: Target) -> str:
    """Hashes of the target's source (its package's files, or its one file), of the rules' and the harness's.

    A finding ends a run, so who judged is part of what reproduces it; so is who made the choices, and what
    agents do with an answer.
    """
    from .. import rules

    module = type(target).__module__
    return f"{_hash_of(module)}.{_hash_of(rules.__name__)}.{_hash_of(_HARNESS, _RULES_FOLDER)}"


@functools.cache
def _hash_of(module_name: str, without: str = "") -> str:
    """Hash of a package's files, those in one folder of it aside."""
    digest = hashlib.blake2b(module_name.encode(), digest_size=16)
    for path in _sources(module_name):
        if not without or path.parent.name != without:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:_CODE_CHARACTERS]


def _sources(module_name: str) -> list[Path]:
    """Files of the package the module is in; the module itself first."""
    module = sys.modules.get(module_name)
    name = getattr(module, "__file__", None)
    if name is None:
        return []
    file = Path(name)
    package = module_name.rpartition(".")[0]
    folder = file.parent
    if not package or not (folder / "__init__.py").exists():
        return [file]
    return [file, *sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).parts)]
