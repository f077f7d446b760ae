"""Kinds of atoms: what a symbol stands for, or the operation that it is the result of.

Property: an atom has one kind, and atoms of different kinds are different.

Argument: the kind is the first part of an atom and counts for its digest (`symbol`).

Not covered: instructions that are not followed: their results are named by the text of the opcode, and have the kind
`OPCODE` in common.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What stands first in an atom."""

    __repr__ = str.__repr__  # atoms are sorted by their text in some places

    # what nothing of the run is behind
    PARAM = "param"
    SPECIAL = "special"
    LOAD = "load"
    SHARED = "shared"
    RECEIVED = "received"
    STRONG = "strong"
    OWN = "own"
    VOLATILE = "volatile"
    RESULT = "result"
    RETURNED = "returned"
    SYMBOL = "symbol"
    UNDEFINED = "undefined"
    UNKNOWN = "unknown"
    OPERAND = "operand"
    MERGED = "merged"
    PARTED = "parted"
    LOOP = "loop"
    LOOP_SHARED = "loop:shared"
    LOOP_GLOBAL = "loop:global"
    LOOP_MEMORY = "loop:memory"
    # values and their forms
    LANES = "lanes"
    SUM = "sum"
    DEEP = "deep"
    OF = "of"
    # predicates and choices
    CMP = "cmp"
    BELOW = "below"
    COMPARE = "compare"
    SETP = "setp"
    NOT = "not"
    AND = "and"
    OR = "or"
    XOR = "xor"
    SELP = "selp"
    # arithmetic
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    MULHI = "mulhi"
    DIV = "div"
    REM = "rem"
    SHL = "shl"
    SHR = "shr"
    SAR = "sar"
    ABS = "abs"
    BFE = "bfe"
    BFI = "bfi"
    BFIND = "bfind"
    BREV = "brev"
    CLZ = "clz"
    CVT = "cvt"
    LOP3 = "lop3"
    POPC = "popc"
    PRMT = "prmt"
    SHF = "shf"
    PACK = "pack"
    PART = "part"
    MAPA = "mapa"
    # lanes of a warp
    IN_RANGE = "in-range"
    LANE = "lane"
    SHFL = "shfl"
    VOTE = "vote"
    # rounds of loops
    CARRIED = "carried"
    PHI = "phi"
    ROUNDS = "rounds"
    TURN = "turn"
    ORDINAL = "ordinal"
    WIDENED = "widened"
    VARIABLE = "variable"
    HELD = "held"
    CONSTANT = "constant"
    # readings
    UNSIGNED = "unsigned"
    OPCODE = "opcode"


KINDS = {str(kind): kind for kind in Kind}
"""Kinds by their text."""
ENCODED = {kind: b"str%d:%s" % (len(kind), kind.encode()) for kind in Kind}
"""What stands for a kind in a digest."""
