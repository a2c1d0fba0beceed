"""Subjects worth running: well-behaved agents that meet, and clients that insist.

The portfolio draws from this list half of the time; the other half are programs drawn letter by
letter. Exhaustive search takes the short ones.
"""

from __future__ import annotations

import random

from .subjects import POLICIES, program_of

PLAYS = (
    "play.sales.sales",
    "play.sales.support",
    "play.sales-1.sales-1.sales-1",
    "play.sequence-2.support",
    "play.digest.sales.optout",
    "play.sales.support.override",
    "play.sequence-3.sales.bounce",
)
"""Playbooks of spec R; what comes in from outside may happen at any step, or never."""

PROGRAMS = (
    "prog.ASRL.ASL",
    "prog.ASL.ASL",
    "prog.ASXRS.AS",
    "prog.AXSN.AS",
    "prog.AN.XA",
    "prog.AXL.XAS",
    "prog.ANXA.XA",
    "prog.ASK.ASP",
    "prog.ASO.AS",
    "prog.OASU.AS",
    "prog.OV.AS",
    "prog.ASVS.ASL",
    "prog.ASAS.LA",
    "prog.ALALA.ALA",
    "prog.AXXSR.W",
    "prog.ASXXR.A",
    "prog.ASLASR.A",
    "prog.ATST.AT",
    "prog.ASFQ.ASQ",
    "prog.AS.@GS",
    "prog.ASR.@GS.@GS",
    "prog.AS.@GSR",
    "prog.AT.@GT",
    "prog.ASR.@GSR.A",
    "prog.ASL.AC",
    "prog.A.GLA",
    "prog.AN.GN",
    "prog.AS.GS",
    "prog.AXA.GLS",
    "prog.ASERMR.W",
    "prog.AS.@GXS",
    "prog.AS.@GXSR",
    "prog.ASL.WAS",
    "prog.AOIS.W",
    "prog.ASHS.W",
    "prog.ASVSS.W",
    "prog.ASJD.W",
    "prog.AJJJJ.W",
    "prog.ASBUSWWS.AWS_3",
    "prog.BUAS.W",
    "prog.ASXFXF.W",
    "prog.A.AAAA",
    "prog.AS_6.AS_7",
    "prog.AS_6.AS_8",
    "prog.ASR.YF",
    "prog.YASR.Y",
    "prog.iAS.iAS",
    "prog.AiUi.AS",
    "prog.ASrR.r",
    "prog.ASXc.cAS",
)
"""Clients that go on whatever they are answered."""

EXHAUSTIVE = (
    "prog.A.A",
    "prog.AL.GL",
    "prog.AN.A",
    "prog.AS.AS",
    "prog.ASR.A",
    "prog.AT.@GT",
    "prog.AS.GS",
    "prog.ASKP.O",
    "prog.ASC.AL",
    "prog.ASL_0.ASL_0",
    "prog.AS.Y",
    "prog.i.iAS",
)
"""Short enough to be searched to the end."""
SMALL = EXHAUSTIVE[:3]
"""So short that it takes a moment."""

_LETTERS = "AAASSSSRRLLNNXXQKPZFOBUVTWC"
_NO_LEASE = str.maketrans("", "", "ALN")
"""A second process works under the first one's lease."""
_REPLICAS = 0.15
"""Share of drawn programs whose last client is a second process of the first agent."""
_LENGTH_MIN, _LENGTH_MAX = 2, 6


def draw_subject(rng: random.Random, agents: int) -> str:
    """One of the list, or a drawn program of up to `agents` clients."""
    share = rng.random()
    if share < 0.25:
        return PLAYS[int(rng.random() * len(PLAYS))]
    if share < 0.5:
        return PROGRAMS[int(rng.random() * len(PROGRAMS))]
    count = 2 + int(rng.random() * (agents - 1)) if agents > 1 else 1
    programs = [draw_program(rng) for _ in range(count)]
    if count > 1 and rng.random() < _REPLICAS:
        programs[-1] = "@G" + programs[-1].translate(_NO_LEASE)
    return program_of(tuple(programs))


def draw_program(rng: random.Random) -> str:
    """A client's program; most begin with a claim, since little happens without one."""
    length = _LENGTH_MIN + int(rng.random() * (_LENGTH_MAX - _LENGTH_MIN + 1))
    letters = [_LETTERS[int(rng.random() * len(_LETTERS))] for _ in range(length)]
    if rng.random() < 0.85:
        letters[0] = "A"
    return "".join(letters)


def draw_policy(rng: random.Random) -> str:
    """A policy variant; they vary from run to run so that no layer hides another."""
    names = tuple(POLICIES)
    return names[int(rng.random() * len(names))]
