"""Legality of operands: what ptxas asks of the registers, literals and addresses of an instruction."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from ..ir import (
    Address,
    Component,
    FloatImmediate,
    Immediate,
    Negated,
    Operand,
    Pair,
    Register,
    Sink,
    Symbol,
    SymbolOffset,
    Vector,
)
from ..opcodes.op import Op
from ..opcodes.spec import (
    Direction,
    OperandKind,
    OperandSpec,
    Operation,
)
from .count import vector_length
from .types import (
    TypeKind,
    agrees,
    type_kind,
    type_width,
)

TypeOf = Callable[[Register], str | None]
"""Declared type of a register; None for special registers and what is not known."""

LengthOf = Callable[[Register], int | None]
"""Elements of a register: 1, or those of a vector register; None when it is not known."""

SpaceOf = Callable[[Symbol], str | None]
"""State space of a variable; None when it is not known."""

_BASE_SPACES = {
    ".shared::cta": ".shared",
    ".shared::cluster": ".shared",
    ".param::entry": ".param",
    ".param::func": ".param",
}
_WARP_SIZE = Symbol("WARP_SZ")
_PACKED_LENGTHS = (2, 4)
_WITH_WIDE_ADDRESSES = frozenset(
    {
        Op.APPLYPRIORITY, Op.ATOM, Op.DISCARD, Op.LD, Op.LD_NC, Op.LDU, Op.MBARRIER_ARRIVE, Op.MBARRIER_ARRIVE_DROP,
        Op.MBARRIER_INIT, Op.MBARRIER_INVAL, Op.MBARRIER_TEST_WAIT, Op.MBARRIER_TRY_WAIT, Op.MULTIMEM_LD_REDUCE,
        Op.MULTIMEM_RED, Op.MULTIMEM_ST, Op.PREFETCH, Op.PREFETCHU, Op.RED, Op.ST,
    }
)  # fmt: skip
"""What ptxas asks for 64 bits of a generic or global address; of others it extends the number."""


def operand_problems(
    operation: Operation,
    operands: Sequence[Operand],
    type_of: TypeOf,
    space_of: SpaceOf = lambda symbol: None,
    length_of: LengthOf = lambda register: None,
    address_size: int | None = None,
) -> Iterator[str]:
    """Yield what ptxas would reject in the operands of a resolved operation, for people.

    Yields nothing when the operation is not resolved (see `Operation.problem`). The size of addresses is that of the
    module.
    """
    if operation.form is None:
        return
    check = _Check(operation, type_of, space_of, length_of, address_size)
    for spec, operand in zip(operation.operand_specs, operands, strict=True):
        yield from check.operand(spec, operand)


def takes_limits(operation: Operation) -> bool:
    """Tell whether the legality of an operand depends on the value of a literal."""
    return any(_is_limited(spec) for spec in operation.operand_specs)


def _is_limited(spec: OperandSpec) -> bool:
    return bool(spec.limits) or (spec.second is not None and _is_limited(spec.second))


class OperandShapes:
    """All that `operand_problems` can see of operands, as a key: equal shapes have equal verdicts.

    For one function and one operation. Operands that are objects of one body are remembered by identity.
    """

    def __init__(self, type_of: TypeOf) -> None:
        self._type_of = type_of
        self._known: dict[int, tuple[Operand, Hashable]] = {}

    def of(self, operands: Sequence[Operand], *, literals: bool) -> Hashable:
        """Return the shape of an operand list; `literals` keeps the values of integer literals apart."""
        known = self._known
        found: list[Hashable] = []
        for operand in operands:
            if literals and type(operand) is Immediate:
                found.append(operand)
                continue
            shape = known.get(id(operand))
            if shape is None:
                shape = known[id(operand)] = (operand, self._shape(operand, literals))
            found.append(shape[1])
        return tuple(found)

    def _shape(self, operand: Operand, literals: bool) -> Hashable:
        match operand:
            case Register():
                return self._type_of(operand) or operand
            case Immediate():
                return Immediate
            case Address(base=Register() as base, extra=()):
                return Address, self._type_of(base) or base
            case Vector(elements=elements) if all(type(element) is Register for element in elements):
                return Vector, *(self._shape(element, literals) for element in elements)
            case _:
                return operand


@dataclass(frozen=True, slots=True)
class _Check:
    operation: Operation
    type_of: TypeOf
    space_of: SpaceOf
    length_of: LengthOf
    address_size: int | None

    def operand(self, spec: OperandSpec, operand: Operand) -> Iterator[str]:
        if isinstance(operand, Address):
            if spec.kind is OperandKind.ADDRESS:
                yield from self.address(spec, operand)
            elif spec.type:
                yield f"'{spec.name}' cannot be an address"
        elif isinstance(operand, Pair) and spec.second is not None:
            yield from self.value(spec, operand.first)
            yield from self.value(spec.second, operand.second)
        else:
            yield from self.value(spec, operand)

    def value(self, spec: OperandSpec, operand: Operand) -> Iterator[str]:
        match spec.kind:
            case OperandKind.PREDICATE:
                yield from self.predicate(spec, operand)
            case OperandKind.IMMEDIATE:
                yield from self.immediate(spec, operand)
            case OperandKind.LABEL:
                if not isinstance(operand, Symbol):
                    yield f"'{spec.name}' must be a label"
            case OperandKind.VALUE | OperandKind.VECTOR:
                yield from self.typed(spec, operand, self.resolved(spec.type))
            case OperandKind.SYMBOL if spec.type:
                yield from self.symbolic(spec, operand, self.resolved(spec.type))
            case OperandKind.ANY if spec.type:
                yield from self.moved(spec, operand, self.resolved(spec.type))
            case _:
                return

    def resolved(self, type_: str) -> str:
        """Return the type that a literal or the name of a slot stands for; "" when there is none."""
        return type_ if type_.startswith(".") else self.operation.slots.get(type_, "")

    def predicate(self, spec: OperandSpec, operand: Operand) -> Iterator[str]:
        if isinstance(operand, Negated) and spec.direction is Direction.READ:
            operand = operand.operand
        if isinstance(operand, Register):
            declared = self.type_of(operand)
            if declared is not None and declared != ".pred":
                yield f"'{spec.name}' must be a predicate, but '{operand.name}' is {declared}"
        elif isinstance(operand, Sink):
            yield from self.sink(spec)
        elif isinstance(operand, Immediate) and spec.direction is Direction.READ:
            yield from self.limits(spec, operand.value)
        else:
            yield f"'{spec.name}' must be a predicate"

    def sink(self, spec: OperandSpec) -> Iterator[str]:
        if spec.direction is Direction.READ:
            yield f"'_' cannot be read, as '{spec.name}' is"
        elif not spec.sink:
            yield f"'_' is not allowed for '{spec.name}'"

    def immediate(self, spec: OperandSpec, operand: Operand) -> Iterator[str]:
        if isinstance(operand, Immediate):
            yield from self.limits(spec, operand.value)
        elif operand != _WARP_SIZE:
            yield f"'{spec.name}' must be an integer literal"

    def limits(self, spec: OperandSpec, value: int) -> Iterator[str]:
        if spec.limits and not any(value in one for one in spec.limits):
            yield f"{value} is out of range for '{spec.name}': {', '.join(map(_show_range, spec.limits))}"

    def typed(self, spec: OperandSpec, operand: Operand, type_: str) -> Iterator[str]:
        length = vector_length(spec.count, self.operation.slots)
        if isinstance(operand, Vector):
            if length is not None and len(operand.elements) != length:
                yield f"'{spec.name}' must have {length} elements, not {len(operand.elements)}"
            for element in operand.elements:
                yield from self.element(spec, element, type_)
        elif isinstance(operand, Sink):
            yield from self.sink(spec)
        elif length is not None and self.length(operand) not in (None, length):
            yield f"'{spec.name}' must have {length} elements"
        else:
            yield from self.scalar(spec, operand, type_)

    def length(self, operand: Operand) -> int | None:
        """Return the elements of an operand that is no vector in braces."""
        return self.length_of(operand) if isinstance(operand, Register) else 1

    def element(self, spec: OperandSpec, operand: Operand, type_: str) -> Iterator[str]:
        if isinstance(operand, Sink):
            if spec.direction is Direction.READ:
                yield f"'_' cannot be read, as '{spec.name}' is"
        else:
            yield from self.scalar(spec, operand, type_)

    def scalar(self, spec: OperandSpec, operand: Operand, type_: str) -> Iterator[str]:
        match operand:
            case Register() | Component():
                yield from self.register(spec, operand, type_)
            case Immediate(value=value):
                if spec.direction is not Direction.READ:
                    yield f"'{spec.name}' is written and cannot be a literal"
                elif not _takes_integer(type_):
                    yield f"'{spec.name}' is {type_} and cannot be an integer literal"
                else:
                    yield from self.limits(spec, value)
            case FloatImmediate(width=width):
                if spec.direction is not Direction.READ:
                    yield f"'{spec.name}' is written and cannot be a literal"
                elif not _takes_float(type_, width):
                    yield f"'{spec.name}' is {type_} and cannot be a floating-point literal"
            case Symbol(name=name) | SymbolOffset(symbol=Symbol(name=name)):
                yield f"'{spec.name}' must be a register, not the address of '{name}'"
            case _:
                yield f"'{spec.name}' must be a register or a literal"

    def register(self, spec: OperandSpec, operand: Register | Component, type_: str) -> Iterator[str]:
        base = operand.base if isinstance(operand, Component) else operand
        declared = self.type_of(base)
        if declared is None:
            if is_special(base.name):
                yield f"special register '{base.name}' can only be read by mov"
        elif type_ and not agrees(declared, type_, wider=spec.wider):
            yield f"'{spec.name}' is {type_}, but '{base.name}' is {declared}"

    def symbolic(self, spec: OperandSpec, operand: Operand, type_: str) -> Iterator[str]:
        """A value, or the address of a variable in the space of the instruction."""
        if isinstance(operand, (Symbol, SymbolOffset)):
            symbol = operand if isinstance(operand, Symbol) else operand.symbol
            declared = self.space_of(symbol)
            space = self.resolved(spec.space)
            if declared is not None and space and not _reaches(declared, space):
                yield f"'{symbol.name}' is in {declared}, the instruction is for {space}"
        else:
            yield from self.typed(spec, operand, type_)

    def moved(self, spec: OperandSpec, operand: Operand, type_: str) -> Iterator[str]:
        """Operands of `mov` and address conversion: symbols and special registers too, and packing."""
        match operand:
            case Vector(elements=elements) if not spec.count or spec.count not in self.operation.slots:
                yield from self.packed(spec, elements, type_)
            case Vector() | Immediate() | FloatImmediate() | Sink():
                yield from self.typed(spec, operand, type_)
            case Symbol() | SymbolOffset():
                if spec.direction is not Direction.READ:
                    yield f"'{spec.name}' must be a register"
                elif type_kind(type_) not in (TypeKind.BITS, TypeKind.INTEGER):
                    yield f"'{spec.name}' is {type_} and cannot be an address"
            case Register() | Component():
                base = operand.base if isinstance(operand, Component) else operand
                if self.type_of(base) is not None:
                    yield from self.typed(spec, operand, type_)
                elif is_special(base.name):
                    yield from self.special(spec, base.name, type_)
            case _:
                yield f"'{spec.name}' must be a register, a literal or a symbol"

    def special(self, spec: OperandSpec, name: str, type_: str) -> Iterator[str]:
        if spec.direction is not Direction.READ:
            yield f"special register '{name}' cannot be written"
        elif not _moves_special(name, type_):
            yield f"special register '{name}' cannot be moved as {type_}"

    def packed(self, spec: OperandSpec, elements: Sequence[Operand], type_: str) -> Iterator[str]:
        width = type_width(type_)
        if type_kind(type_) is not TypeKind.BITS or width is None:
            yield f"a vector is packed or unpacked with a .b type, not {type_}"
        elif len(elements) not in _PACKED_LENGTHS or width // len(elements) < 8:
            yield f"'{spec.name}' must have 2 or 4 elements of at least 8 bits"
        else:
            for element in elements:
                yield from self.element(spec, element, f".b{width // len(elements)}")
            if all(isinstance(element, Sink) for element in elements):
                yield f"'{spec.name}' has no register"

    def address(self, spec: OperandSpec, operand: Address) -> Iterator[str]:
        space = self.resolved(spec.space)
        match operand.base:
            case None:
                if space and space != ".local":
                    yield f"an absolute address is only allowed in .local, not {space}"
            case Symbol() as symbol:
                declared = self.space_of(symbol)
                if declared is not None and not _reaches(declared, space):
                    accessed = space or "a generic address"
                    yield f"'{symbol.name}' is in {declared}, the instruction accesses {accessed}"
            case Register() | Component() as operand_base:
                yield from self.address_register(operand_base)
                yield from self.address_width(operand_base, space)
        extra: OperandSpec | None = spec.second
        for item in operand.extra:
            if extra is None:
                return
            yield from self.value(extra, item)
            extra = extra.second

    def address_register(self, operand: Register | Component) -> Iterator[str]:
        base = operand.base if isinstance(operand, Component) else operand
        declared = self.type_of(base)
        if declared is None:
            if is_special(base.name):
                yield f"special register '{base.name}' cannot be an address"
        elif type_kind(declared) not in (TypeKind.BITS, TypeKind.INTEGER) or declared == ".b128":
            yield f"'{base.name}' is {declared} and cannot be an address"

    def address_width(self, operand: Register | Component, space: str) -> Iterator[str]:
        """Yield that a register has 32 bits of an address that lies outside of shared and local memory."""
        if self.address_size != 64 or space not in ("", ".global") or isinstance(operand, Component):
            return
        declared = self.type_of(operand)
        if declared is not None and type_width(declared) == 32 and self.operation.op in _WITH_WIDE_ADDRESSES:
            accessed = space or "generic"
            yield f"'{operand.name}' is {declared}, and a {accessed} address has 64 bits"


def _reaches(declared: str, space: str) -> bool:
    if not space:
        return declared not in (".param", ".reg")
    return _BASE_SPACES.get(space, space) == _BASE_SPACES.get(declared, declared)


def _moves_special(name: str, type_: str) -> bool:
    wide = name in _WIDE_SPECIALS or name.endswith("_64")
    if type_kind(type_) not in (TypeKind.BITS, TypeKind.INTEGER):
        return False
    return name in _ANY_WIDTH_SPECIALS or (type_width(type_) == 64) == wide


def _takes_integer(type_: str) -> bool:
    return not type_ or type_kind(type_) in (TypeKind.BITS, TypeKind.INTEGER, None)


def _takes_float(type_: str, width: int) -> bool:
    if not type_ or type_kind(type_) is None or type_ in (".f32", ".f64"):
        return True
    return type_kind(type_) is TypeKind.BITS and type_width(type_) == width


def _show_range(limit: range) -> str:
    if len(limit) == 1:
        return str(limit.start)
    step = f" in steps of {limit.step}" if limit.step != 1 else ""
    return f"{limit.start} to {limit[-1]}{step}"


_SPECIAL_NAMES = frozenset(
    [
        "%tid",
        "%ntid",
        "%ctaid",
        "%nctaid",
        "%laneid",
        "%warpid",
        "%nwarpid",
        "%smid",
        "%nsmid",
        "%gridid",
        "%lanemask_eq",
        "%lanemask_le",
        "%lanemask_lt",
        "%lanemask_ge",
        "%lanemask_gt",
        "%clock",
        "%clock_hi",
        "%clock64",
        "%globaltimer",
        "%globaltimer_lo",
        "%globaltimer_hi",
        "%clusterid",
        "%nclusterid",
        "%cluster_ctaid",
        "%cluster_nctaid",
        "%cluster_ctarank",
        "%cluster_nctarank",
        "%is_explicit_cluster",
        "%total_smem_size",
        "%aggr_smem_size",
        "%dynamic_smem_size",
        "%current_graph_exec",
        "%reserved_smem_offset_begin",
        "%reserved_smem_offset_end",
        "%reserved_smem_offset_cap",
        "%reserved_smem_offset_0",
        "%reserved_smem_offset_1",
        "%perctamemoryoffset",
        "%perctamemorysize",
    ]
)
_WIDE_SPECIALS = frozenset({"%clock64", "%globaltimer", "%current_graph_exec"})
_ANY_WIDTH_SPECIALS = frozenset({"%gridid", "%perctamemoryoffset", "%perctamemorysize"})
_NUMBERED_SPECIALS = ("%pm", "%envreg")


def is_special(name: str) -> bool:
    """Tell whether a name is that of a special register (PTX ISA 10); a module may declare it anew."""
    if name in _SPECIAL_NAMES:
        return True
    return any(
        name.startswith(one) and name[len(one) :].removesuffix("_64").isdigit() for one in _NUMBERED_SPECIALS
    )


__all__ = ["LengthOf", "SpaceOf", "TypeOf", "is_special", "operand_problems"]
