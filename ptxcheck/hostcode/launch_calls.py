"""Calls that launch kernels: `<<<>>>`, and the functions of the CUDA runtime and driver.

Property: each launch that is noted is one that the program makes where it comes to that call; what of its block,
cluster and arguments is a known number is that number. A launch without a cluster attribute says that the kernel
has the clusters that it is compiled for, or none (CUDA C++ Programming Guide, thread block clusters).

Not covered: kernels that only a parameter of a function names, attributes that other functions fill in, and
arguments that are passed by their addresses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.changes import element_path
from ptxcheck.hostcode.cute import Cute
from ptxcheck.hostcode.machine import LaunchCall, State
from ptxcheck.hostcode.names import (
    CLUSTER_DIMENSION,
    COOPERATIVE,
    KERNEL_GETTERS,
    LAUNCHERS,
    LOADERS,
    PROGRAMMATIC_SERIALIZATION,
)
from ptxcheck.hostcode.values import (
    ANYTHING,
    Anything,
    Array,
    Configuration,
    Extent,
    Integer,
    Kernel,
    Structure,
    Value,
    Words,
)
from ptxcheck.source import Span

MOST_ATTRIBUTES = 8
_BLOCK_AT = 1
"""Position of the block in `<<<grid, block>>>`."""
_KERNEL_OF_CORE = 2
"""Position of the kernel in `launch(stream, config, kernel, …)` of cuda.core."""
_AXES = "XYZ"


class LaunchCalls(Cute):
    """Calls that launch kernels."""

    def _launch(self, name: str | None, call: c.Call, state: State) -> Value | None:
        """Note a launch and return what the call gives; None for another call."""
        if not self._program.passes_variables:
            found = self._python_call(name, call, state)
            if found is not None:
                return found
        if call.launch:
            self._launched(call, state)
        elif name in LAUNCHERS and name not in self._by_name:
            self._launched_by(name, call, state)
        else:
            return None
        return ANYTHING

    def _launched(self, call: c.Call, state: State) -> None:
        """Note `kernel<<<grid, block, …>>>(…)`."""
        kernel = self._kernel_of(call.callee, state)
        if kernel is not None and call.types and not kernel.template_arguments:
            kernel = Kernel(kernel.name, kernel.scope, self._template_numbers(call.types, state))
        configuration = [self._value(one, state) for one in call.launch]
        arguments = tuple(self._value(one, state) for one in call.arguments)
        block = configuration[_BLOCK_AT] if len(configuration) > _BLOCK_AT else ANYTHING
        self._note_launch(kernel, "<<<>>>", block, None, arguments, call.span, state)

    def _launched_by(self, name: str, call: c.Call, state: State) -> None:
        """Note a launch by a function; it changes none of its arguments."""
        launcher = LAUNCHERS[name]
        count = len(call.arguments)
        kernel = None
        if count > launcher.kernel:
            handle = call.arguments[launcher.kernel]
            kernel = self._kernel_of(handle, state, is_handle=name.startswith("cuLaunch"))
        values = [
            ANYTHING if at == launcher.kernel else self._value(one, state)
            for at, one in enumerate(call.arguments)
        ]
        needed = [launcher.block, launcher.configuration, *(launcher.blocks or ())]
        if kernel is None or any(at is not None and at >= count for at in needed):
            return
        block: Value = ANYTHING
        cluster: Value | None = None
        attributes = _Attributes(is_cooperative=launcher.is_cooperative)
        if launcher.configuration is not None:
            block, attributes = self._configured(values[launcher.configuration], state)
            cluster = attributes.cluster
        elif launcher.blocks is not None:
            x, y, z = (values[at] for at in launcher.blocks)
            block = Extent(x, y, z)
        elif launcher.block is not None:
            block = values[launcher.block]
        arguments = () if launcher.first is None else tuple(values[launcher.first :])
        self._note_launch(kernel, name, block, cluster, arguments, call.span, state, attributes)

    def _note_launch(
        self,
        kernel: Kernel | None,
        form: str,
        block: Value,
        cluster: Value | None,
        arguments: tuple[Value, ...],
        span: Span,
        state: State,
        attributes: _Attributes | None = None,
    ) -> None:
        """Note a launch of a known kernel that no branch of the preprocessor decides about."""
        if kernel is None or self._unsure or any(frame.function.is_preprocessed for frame in self._frames):
            return
        way = self._way(span)
        included = [frame.function.is_included for frame in reversed(self._frames)]
        own = tuple(one for one, away in zip(way, included, strict=True) if not away)
        self._launches.append(
            LaunchCall(
                kernel,
                form,
                self._as_extent(block) or ANYTHING,
                cluster,
                arguments,
                own[0][1] if included[0] and own else span,
                dict(state.known),
                way,
                attributes is not None and attributes.is_cooperative,
                attributes is not None and attributes.is_programmatic,
            )
        )

    def _python_call(self, name: str | None, call: c.Call, state: State) -> Value | None:
        """Return what a call of CuPy, cuda.core or cuda-python about kernels gives; None for another call."""
        arguments = call.arguments
        if name in KERNEL_GETTERS or name in LOADERS:
            words = (self._value(_plain(one), state) for one in arguments[KERNEL_GETTERS.get(name, 0) :])
            text = next((value.text for value in words if isinstance(value, Words)), None)
            if text is None:
                return None
            plain, is_symbol = text.split("<")[0], name in LOADERS
            scope, _, last = plain.rpartition("::")
            kernel = Kernel(text, is_symbol=True) if is_symbol else Kernel(last, scope)
            return Array((ANYTHING, kernel)) if is_symbol else kernel
        if name is not None and "check" in name.lower() and len(arguments) == 1:
            inner = self._value(arguments[0], state) if isinstance(arguments[0], c.Call) else ANYTHING
            is_pair = isinstance(inner, Array) and len(inner.items) == 2 and inner.items[0] is ANYTHING
            return inner.items[1] if is_pair and isinstance(inner, Array) else None
        given = {one.name: one.value for one in arguments if isinstance(one, c.Keyword)}
        if name == "LaunchConfig" and "block" in given:
            cluster = None if "cluster" not in given else self._value(given["cluster"], state)
            return Configuration(self._value(given["block"], state), cluster)
        return self._python_launch(name, call, given, state)

    def _python_launch(
        self, name: str | None, call: c.Call, given: Mapping[str, c.Expr], state: State
    ) -> Value | None:
        """Note `kernel(grid, block, arguments)` of CuPy and `launch(stream, config, kernel, …)` of cuda.core."""
        arguments = call.arguments
        if name == "launch" and len(arguments) > _KERNEL_OF_CORE:
            config, kernel = (self._value(one, state) for one in arguments[1 : _KERNEL_OF_CORE + 1])
            if isinstance(config, Configuration) and isinstance(kernel, Kernel):
                cluster = None if config.cluster is None else self._as_extent(config.cluster) or ANYTHING
                self._note_launch(kernel, "launch", config.block, cluster, (), call.span, state)
                return ANYTHING
        if isinstance(call.callee, c.Name) and not call.launch:
            kernel = self._named(call.callee.id, state, None)
            positional = [one for one in arguments if not isinstance(one, c.Keyword)]
            block = positional[1] if len(positional) > 1 else given.get("block")
            if (
                isinstance(kernel, Kernel)
                and call.callee.id not in self._program.kernels
                and block is not None
            ):
                form = f"{call.callee.id}(grid, block, ...)"
                self._note_launch(kernel, form, self._value(block, state), None, (), call.span, state)
                return ANYTHING
        return None

    def _kernel_of(self, expr: c.Expr, state: State, *, is_handle: bool = False) -> Kernel | None:
        """Return the kernel that an expression names, also one that is declared elsewhere; a handle names none."""
        while isinstance(expr, (c.Cast, c.AddressOf)):
            expr = expr.operand
        is_unknown = isinstance(expr, c.Name) and expr.id not in state.variables
        if isinstance(expr, c.Name) and is_unknown and expr.id not in self._program.kernels:
            if is_handle and expr.id not in self._program.constants:
                return None
            if not self._program.passes_variables or is_handle:
                value = self._value(expr, state)
                return value if isinstance(value, Kernel) else None
            if expr.id in self._program.constants or expr.id in self._by_name:
                return None
            return Kernel(expr.id, expr.scope, self._template_numbers(expr.types, state))
        value = self._value(expr, state)
        return value if isinstance(value, Kernel) else None

    def _load_kernel(self, name: str, call: c.Call, values: Sequence[Value], state: State) -> None:
        """Set a handle of a kernel that is looked up by its name, or by another handle of it."""
        target_at, source_at = LOADERS[name]
        if len(values) <= max(target_at, source_at):
            return
        source = values[source_at]
        found: Value = ANYTHING
        if isinstance(source, Words):
            found = Kernel(source.text, is_symbol=True)
        elif isinstance(source, Kernel):
            found = source
        target = call.arguments[target_at]
        while isinstance(target, c.Cast):
            target = target.operand
        if isinstance(target, c.AddressOf) and isinstance(target.operand, c.Name):
            state.variables[target.operand.id] = found

    def _configured(self, value: Value, state: State) -> tuple[Value, _Attributes]:
        """Return the block and the attributes of a launch configuration."""
        if not isinstance(value, Structure) or state.variables.get(value.path) != value:
            return ANYTHING, _Attributes(cluster=ANYTHING)
        path = value.path
        block = self._first_known((f"{path}.blockDim",), state)
        if isinstance(block, Anything):
            x, y, z = (self._named(f"{path}.blockDim{axis}", state, None) for axis in _AXES)
            block = Extent(x, y, z)
        count = self._named(f"{path}.numAttrs", state, None)
        listed = self._named(f"{path}.attrs", state, None)
        length = count.constant if isinstance(count, Integer) else None
        if length == 0:
            return block, _Attributes()
        is_known = isinstance(listed, Structure) and state.variables.get(listed.path) == listed
        if length is None or length > MOST_ATTRIBUTES or not is_known:
            return block, _Attributes(cluster=ANYTHING)
        return block, self._attributes(listed.path, length, state)  # type: ignore[union-attr]

    def _attributes(self, path: str, length: int, state: State) -> _Attributes:
        """Return what attributes say; one that is not known may be about clusters."""
        found = _Attributes()
        for position in range(length):
            place = element_path(path, position)
            kind = self._named(f"{place}.id", state, None)
            which = kind.constant if isinstance(kind, Integer) else None
            if which is None:
                found.cluster = ANYTHING
            elif which == CLUSTER_DIMENSION:
                found.cluster = self._first_known(
                    (f"{place}.val.clusterDim", f"{place}.value.clusterDim"), state
                )
            elif which == COOPERATIVE:
                found.is_cooperative = True
            elif which == PROGRAMMATIC_SERIALIZATION:
                found.is_programmatic = True
        return found

    def _first_known(self, paths: Sequence[str], state: State) -> Value:
        for path in paths:
            if path in state.variables:
                return self._named(path, state, None)
            if f"{path}.x" in state.variables:
                return self._extent_at(path, state)
        return ANYTHING


def _plain(expr: c.Expr) -> c.Expr:
    return expr.value if isinstance(expr, c.Keyword) else expr


class _Attributes:
    """What the attributes of a launch say; `cluster` is None where none is about clusters."""

    def __init__(self, cluster: Value | None = None, *, is_cooperative: bool = False) -> None:
        self.cluster = cluster
        self.is_cooperative = is_cooperative
        self.is_programmatic = False
