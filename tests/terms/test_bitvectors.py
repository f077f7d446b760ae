"""Terms of registers: they simplify to what arithmetic modulo 2^width gives, and the solver reads them so, too."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pytest

from ptxcheck.terms.bit_pool import Pool
from ptxcheck.terms.bitvectors import Bits, Kind, in_order
from ptxcheck.terms.smt import BitVectorSolver, UndecidedError

WIDTH = 8
MASK = (1 << WIDTH) - 1
EFFORT = 1_000_000
Binary = Callable[[int, int], int]


def signed(number: int) -> int:
    return number - (MASK + 1) if number > MASK // 2 else number


def shifted(number: int, by: int) -> int:
    return number << by if by < WIDTH else 0


def ashr(number: int, by: int) -> int:
    return signed(number) >> min(by, WIDTH - 1)


OPERATIONS: dict[str, tuple[Callable[[Pool], Callable[[Bits, Bits], Bits]], Binary]] = {
    "add": (lambda pool: pool.add, lambda a, b: a + b),
    "sub": (lambda pool: pool.sub, lambda a, b: a - b),
    "mul": (lambda pool: pool.mul, lambda a, b: a * b),
    "and": (lambda pool: pool.and_, lambda a, b: a & b),
    "or": (lambda pool: pool.or_, lambda a, b: a | b),
    "xor": (lambda pool: pool.xor, lambda a, b: a ^ b),
    "shl": (lambda pool: pool.shl, shifted),
    "lshr": (lambda pool: pool.lshr, lambda a, b: a >> b),
    "ashr": (lambda pool: pool.ashr, ashr),
    "eq": (lambda pool: pool.eq, lambda a, b: int(a == b)),
    "ult": (lambda pool: pool.ult, lambda a, b: int(a < b)),
    "slt": (lambda pool: pool.slt, lambda a, b: int(signed(a) < signed(b))),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_of_literals_is_the_number(name: str) -> None:
    pool, (term, number) = Pool(), OPERATIONS[name]
    chosen = random.Random(1)
    for _ in range(200):
        a, b = chosen.randrange(MASK + 1), chosen.choice((chosen.randrange(MASK + 1), chosen.randrange(10)))
        found = term(pool)(pool.number(a, WIDTH), pool.number(b, WIDTH))
        if found.constant is None:
            assert found.kind in (Kind.SHL, Kind.LSHR, Kind.ASHR, Kind.EQ), "left to the solver"
        else:
            assert found.constant == number(a, b) & (MASK if found.width == WIDTH else 1)


def random_term(pool: Pool, chosen: random.Random, leaves: list[Bits], depth: int) -> Bits:
    if depth == 0:
        return chosen.choice([*leaves, pool.number(chosen.randrange(MASK + 1), WIDTH)])
    a, b = (random_term(pool, chosen, leaves, depth - 1) for _ in range(2))
    match chosen.randrange(6):
        case 0:
            return pool.choice(pool.ult(a, b), b, pool.number(chosen.randrange(MASK + 1), WIDTH))
        case 1:
            return pool.extract(
                pool.mul(pool.zext(a, 2 * WIDTH), pool.sext(b, 2 * WIDTH)), chosen.choice((0, 4)), WIDTH
            )
        case 2:
            by = pool.number(chosen.choice((3, 4, 8)), WIDTH)
            return pool.divide(a, by, signed=chosen.random() < 0.5, rest=chosen.random() < 0.5)
        case 3:
            return pool.shl(a, pool.number(chosen.randrange(WIDTH), WIDTH))
        case _:
            name = chosen.choice(("add", "sub", "and", "or", "xor", "lshr", "ashr"))
            return OPERATIONS[name][0](pool)(a, b)


def value(term: Bits, numbers: dict[Bits, int]) -> int:
    """Return what a term is, by the definitions of SMT-LIB."""
    found: dict[Bits, int] = {}
    for each in in_order(term):
        parts = [found[part] for part in each.parts]
        found[each] = numbers[each] if each in numbers else compute(each, parts)
    return found[term]


def compute(term: Bits, parts: list[int]) -> int:
    width = term.parts[0].width if term.parts else term.width
    total = term.number + sum(f * p for f, p in zip(term.factors, parts, strict=False))
    meanings: dict[Kind, Callable[[], int]] = {
        Kind.NUMBER: lambda: term.number,
        Kind.SUM: lambda: total,
        Kind.PRODUCT: lambda: parts[0] * parts[1],
        Kind.UDIV: lambda: parts[0] // parts[1],
        Kind.UREM: lambda: parts[0] % parts[1],
        Kind.SDIV: lambda: int(read_signed(parts[0], width) / read_signed(parts[1], width)),
        Kind.SREM: lambda: int(math.fmod(read_signed(parts[0], width), read_signed(parts[1], width))),
        Kind.AND: lambda: parts[0] & parts[1],
        Kind.OR: lambda: parts[0] | parts[1],
        Kind.XOR: lambda: parts[0] ^ parts[1],
        Kind.SHL: lambda: parts[0] << parts[1] if parts[1] < width else 0,
        Kind.LSHR: lambda: parts[0] >> parts[1],
        Kind.ASHR: lambda: read_signed(parts[0], width) >> min(parts[1], width - 1),
        Kind.EXTRACT: lambda: parts[0] >> term.number,
        Kind.ZEXT: lambda: parts[0],
        Kind.SEXT: lambda: read_signed(parts[0], width),
        Kind.CHOICE: lambda: parts[1] if parts[0] else parts[2],
        Kind.EQ: lambda: int(parts[0] == parts[1]),
        Kind.ULT: lambda: int(parts[0] < parts[1]),
        Kind.SLT: lambda: int(read_signed(parts[0], width) < read_signed(parts[1], width)),
    }
    return meanings[term.kind]() & ((1 << term.width) - 1)


def read_signed(number: int, width: int) -> int:
    return number - (1 << width) if number >> (width - 1) else number


def unsimplified(chosen: random.Random, x: int, y: int, depth: int) -> int:
    """Return what `random_term` stands for with the same choices, computed with numbers alone."""
    pool = Pool()
    leaves = [pool.number(x, WIDTH), pool.number(y, WIDTH)]
    return value(random_term(pool, chosen, leaves, depth), {})


@pytest.mark.parametrize("seed", range(60))
def test_simplified_terms_are_within_their_bounds_and_right(seed: int) -> None:
    pool = Pool()
    x, y = pool.variable("x", WIDTH), pool.variable("y", WIDTH, 0, 31)
    term = random_term(pool, random.Random(seed), [x, y], 4)
    for a, b in ((0, 0), (1, 31), (200, 7), (255, 16), (128, 5)):
        numbers = {x: a, y: b}
        found = value(term, numbers)
        assert found == unsimplified(random.Random(seed), a, b, 4)
        assert term.low <= found <= term.high
        assert found & ~term.maybe == 0


@pytest.mark.parametrize("seed", range(20))
def test_the_solver_reads_terms_as_they_are_computed(seed: int) -> None:
    pool = Pool()
    x, y = pool.variable("x", WIDTH), pool.variable("y", WIDTH, 0, 31)
    term = random_term(pool, random.Random(seed), [x, y], 3)
    solver = BitVectorSolver()
    claims = [pool.eq(x, pool.number(77, WIDTH)), pool.eq(y, pool.number(9, WIDTH))]
    found = solver.numbers(claims, [term], EFFORT)
    assert found is not None
    assert found[term] == value(term, {x: 77, y: 9})


def test_what_cannot_hold_together_has_no_numbers() -> None:
    pool, solver = Pool(), BitVectorSolver()
    x = pool.variable("x", 32)
    assert (
        solver.numbers([pool.ult(x, pool.number(3, 32)), pool.ult(pool.number(5, 32), x)], [x], EFFORT)
        is None
    )


def test_effort_is_limited() -> None:
    pool, solver = Pool(), BitVectorSolver()
    x, y = pool.variable("x", 64), pool.variable("y", 64)
    product = pool.eq(
        pool.mul(pool.zext(x, 128), pool.zext(y, 128)), pool.number((2**61 - 1) * (2**31 - 1), 128)
    )
    odd = [pool.ult(pool.number(1, 64), each) for each in (x, y)]
    with pytest.raises(UndecidedError):
        solver.numbers([product, *odd], [], 20_000)
    assert solver.spent > 0


def test_what_two_addresses_have_in_common_cancels() -> None:
    pool = Pool()
    base, one, two = (pool.variable(name, 32) for name in ("base", "one", "two"))
    first = pool.add(pool.shl(base, pool.number(4, 32)), pool.times(one, 4))
    second = pool.add(pool.times(two, 4), pool.times(base, 16))
    assert set(pool.sub(first, second).parts) == {one, two}
    assert pool.eq(pool.add(first, pool.number(2, 32)), second) is pool.false, "four does not divide two"
