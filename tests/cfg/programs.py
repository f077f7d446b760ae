"""Random integer kernels: straight code, branches and loops over few registers."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

WORDS = tuple(f"%r{n}" for n in range(6))
LONGS = tuple(f"%d{n}" for n in range(4))
PREDICATES = tuple(f"%p{n}" for n in range(3))
NUMBERS = (0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 24, 31, 32, 33, 63, 64, 100, 127, 1023, 1024, -1, -2, -8, -1024,
           0x7FFFFFFF, 0x80000000, 0xFEFFFFFF, 0xAAAAAAAB, 0xFFFFFFF0)  # fmt: skip
LABELS = ("A", "B", "C", "D")

word = st.sampled_from(WORDS)
long = st.sampled_from(LONGS)
predicate = st.sampled_from(PREDICATES)
number = st.sampled_from(NUMBERS)
small = st.integers(0, 40)
word_or_number = st.one_of(word, number.map(str))
long_or_number = st.one_of(long, number.map(str))
signedness = st.sampled_from("us")
relation = st.sampled_from(("eq", "ne", "lt", "le", "gt", "ge"))
guard = st.one_of(st.just(""), predicate.map(lambda p: f"@{p} "), predicate.map(lambda p: f"@!{p} "))


def _form(template: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    return st.fixed_dictionaries(parts).map(lambda found: template.format(**found))


_BINARY = (
    "add.{s}32", "sub.{s}32", "mul.lo.{s}32", "mul.hi.{s}32", "and.b32", "or.b32", "xor.b32", "min.{s}32",
    "max.{s}32", "div.u32", "rem.u32",
)  # fmt: skip
_BINARY_LONG = ("add.{s}64", "sub.{s}64", "mul.lo.{s}64", "and.b64", "or.b64", "xor.b64")

computation = st.one_of(
    _form("{op} {d}, {a}, {b};", op=st.sampled_from(_BINARY), d=word, a=word, b=word_or_number, s=signedness),
    _form("{op} {d}, {a}, {b};", op=st.sampled_from(_BINARY_LONG), d=long, a=long, b=long_or_number,
          s=signedness),
    _form("mov.b32 {d}, {a};", d=word, a=word_or_number),
    _form("mov.u32 {d}, %tid.x;", d=word),
    _form("mov.b64 {d}, {{{a}, {b}}};", d=long, a=word, b=word),
    _form("mov.b64 {{{a}, {b}}}, {d};", d=long, a=st.just("%r0"), b=st.just("%r1")),
    _form("cvt.u64.{s}32 {d}, {a};", d=long, a=word, s=signedness),
    _form("cvt.{s}32.u64 {d}, {a};", d=word, a=long, s=signedness),
    _form("cvt.{s}32.{t} {d}, {a};", d=word, a=word, s=signedness, t=st.sampled_from(("u16", "s16"))),
    _form("mul.wide.{s}32 {d}, {a}, {b};", d=long, a=word, b=word_or_number, s=signedness),
    _form("mad.lo.{s}32 {d}, {a}, {b}, {c};", d=word, a=word, b=word_or_number, c=word_or_number,
          s=signedness),
    _form("mad.wide.{s}32 {d}, {a}, {b}, {c};", d=long, a=word, b=word_or_number, c=long, s=signedness),
    _form("shl.b32 {d}, {a}, {n};", d=word, a=word, n=st.one_of(small, word)),
    _form("shl.b64 {d}, {a}, {n};", d=long, a=long, n=small),
    _form("shr.{s}32 {d}, {a}, {n};", d=word, a=word, n=st.one_of(small, word), s=signedness),
    _form("shr.{s}64 {d}, {a}, {n};", d=long, a=long, n=small, s=signedness),
    _form("not.b32 {d}, {a};", d=word, a=word),
    _form("neg.s32 {d}, {a};", d=word, a=word),
    _form("abs.s32 {d}, {a};", d=word, a=word),
    _form("popc.b32 {d}, {a};", d=word, a=word),
    _form("clz.b32 {d}, {a};", d=word, a=word),
    _form("bfe.{s}32 {d}, {a}, {n}, {m};", d=word, a=word, n=small, m=small, s=signedness),
    _form("bfi.b32 {d}, {a}, {b}, {n}, {m};", d=word, a=word, b=word, n=small, m=small),
    _form("lop3.b32 {d}, {a}, {b}, {c}, {t};", d=word, a=word, b=word, c=word, t=st.integers(0, 255)),
    _form("prmt.b32 {d}, {a}, {b}, {t};", d=word, a=word, b=word, t=st.integers(0, 0xFFFF)),
    _form("shf.{w}.{m}.b32 {d}, {a}, {b}, {n};", d=word, a=word, b=word, n=small, w=st.sampled_from("lr"),
          m=st.sampled_from(("wrap", "clamp"))),
    _form("selp.b32 {d}, {a}, {b}, {p};", d=word, a=word_or_number, b=word_or_number, p=predicate),
    _form("setp.{o}.{s}32 {p}, {a}, {b};", p=predicate, a=word, b=word_or_number, o=relation, s=signedness),
    _form("setp.{o}.{m}.{s}32 {p}, {a}, {b}, {q};", p=predicate, q=predicate, a=word, b=word_or_number,
          o=relation,
          s=signedness, m=st.sampled_from(("and", "or"))),
    _form("and.pred {p}, {a}, {b};", p=predicate, a=predicate, b=predicate),
    _form("or.pred {p}, {a}, {b};", p=predicate, a=predicate, b=predicate),
    _form("not.pred {p}, {a};", p=predicate, a=predicate),
)  # fmt: skip


@st.composite
def statement(draw: st.DrawFn) -> str:
    """Return one computation, perhaps guarded, its signedness filled in."""
    text: str = draw(computation)
    if "{s}" in text:
        text = text.format(s=draw(signedness))
    return f"{draw(guard)}{text}"


@st.composite
def program(draw: st.DrawFn, *, loops: bool = True) -> str:
    """Return the body of a kernel; without `loops`, branches only lead forward."""
    lines = ["ld.param.u32 %r0, [n];", "ld.param.u64 %d0, [data];", "mov.u32 %r1, %tid.x;"]
    lines += [f"mov.b32 {name}, {draw(number)};" for name in WORDS[2:]]
    lines += [f"mov.b64 {name}, {draw(number)};" for name in LONGS[1:]]
    lines += [f"setp.{draw(relation)}.u32 {name}, {draw(word)}, {draw(number)};" for name in PREDICATES]
    for position, label in enumerate(LABELS):
        lines += draw(st.lists(statement(), max_size=4))
        targets = LABELS if loops else LABELS[position:]
        if draw(st.booleans()):
            lines.append(f"{draw(guard)}bra {draw(st.sampled_from(targets))};")
        lines.append(f"{label}:")
    lines += draw(st.lists(statement(), max_size=4))
    return "\n".join([*lines, "bar.sync 0;", "ret;"])
