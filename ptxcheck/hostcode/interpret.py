"""Run host code on abstract values, and note each call that encodes a tensor map with what its arguments are.

Functions are run from each that leads to an encode call, with parameters unknown, and calls of functions of
the same file are followed. Branches that cannot be taken are not followed; where two join, what differs
becomes a choice. A loop with a known number of turns is run turn by turn, any other once, with everything
that it changes unknown. What an unknown function may change is unknown afterwards.

Property: at each noted call the values cover those of every run that reaches it (`values.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from ptxcheck.hostcode import code as c
from ptxcheck.hostcode.calls import Calls
from ptxcheck.hostcode.changes import changed, walk
from ptxcheck.hostcode.machine import (
    MOST_TURNS,
    MOST_WORK_OF_A_FILE,
    Encode,
    ExhaustedError,
    LaunchCall,
    State,
)
from ptxcheck.hostcode.values import (
    ANYTHING,
    Closure,
    as_test,
    is_true,
)


class Interpreter(Calls):
    """Runs the functions of one program."""

    def encodes(self, roots: Sequence[c.Function]) -> list[Encode]:
        """Run each of `roots` and return the encode calls that were reached."""
        self._follow(roots)
        return self._encodes

    def launches(self, roots: Sequence[c.Function]) -> list[LaunchCall]:
        """Run each of `roots` and return the launches of kernels that were reached."""
        self._follow(roots)
        return self._launches

    def _follow(self, roots: Sequence[c.Function]) -> None:
        """Run each of some functions, as if with any arguments."""
        spent = 0
        for position, root in enumerate(roots):
            spent += self._work
            self._work = 0
            self._unsure = 0
            if spent > MOST_WORK_OF_A_FILE:
                self.given_up += roots[position:]
                break
            self._frames, self._calls = [], []
            try:
                self._call_function(root, None, State(), root.span)
            except (ExhaustedError, RecursionError):
                self.given_up.append(root)

    def _run(self, body: Sequence[c.Stmt], state: State) -> State | None:
        """Run statements in order; None when their end is not reached."""
        current: State | None = state
        for statement in body:
            if current is None:
                return None
            self._spend()
            current = self._step(statement, current)
        return current

    def _step(self, statement: c.Stmt, state: State) -> State | None:  # noqa: C901 one case a form
        match statement:
            case c.Declare():
                self._declare(statement, state)
            case c.Assign():
                self._assign(statement, state)
            case c.Evaluate(value=value):
                return self._evaluate_statement(value, state)
            case c.If():
                return self._branch(statement, state)
            case c.Loop():
                return self._loop(statement, state)
            case c.Switch():
                return self._switch(statement, state)
            case c.Return(value=result):
                found = ANYTHING if result is None else self._value(result, state)
                self._frames[-1].returns.append((found, state))
                return None
            case c.Leave():
                return None
            case c.Jump():
                self._frames[-1].jumps.append(state)
                return None
            case c.Require(test=test):
                taken = self._test(test, state)
                return state if taken is None or self._assume(taken, state, True) else None
            case c.Block(body=body):
                return self._scoped(body, state)
            case c.Define(name=name, function=function):
                state.variables[name] = Closure(function)
        return state

    def _evaluate_statement(self, value: c.Expr, state: State) -> State | None:
        if isinstance(value, c.Call):
            found, after = self._call(value, state)
            del found
            if after is None:
                return None
            state.variables, state.known = after.variables, after.known
            return state
        self._value(value, state)
        return state

    def _scoped(self, body: Sequence[c.Stmt], state: State) -> State | None:
        """Run a block; what it declares hides a variable of the same name only within it."""
        before = dict(state.variables)
        end = self._run(body, state)
        if end is not None:
            for statement in body:
                if isinstance(statement, (c.Declare, c.Define)):
                    prefix = statement.name + "."
                    end.forget_members(statement.name)
                    end.variables.update({key: one for key, one in before.items() if key.startswith(prefix)})
                    if statement.name in before:
                        end.variables[statement.name] = before[statement.name]
                    else:
                        end.variables.pop(statement.name, None)
        return end

    def _branch(self, statement: c.If, state: State) -> State | None:
        test = None if statement.test is None else self._test(statement.test, state)
        decided = None if test is None else is_true(test, state.known)
        if decided is not None:
            return self._run_block(statement.body if decided else statement.other, state, statement)
        then, other = state.copy(), state.copy()
        taken: State | None = then
        skipped: State | None = other
        if test is not None:
            taken = then if self._assume(test, then, True) else None
            skipped = other if self._assume(test, other, False) else None
        first = None if taken is None else self._run_block(statement.body, taken, statement)
        second = None if skipped is None else self._run_block(statement.other, skipped, statement)
        if first is None or second is None:
            return second if first is None else first
        return self._joined(first, second, test, [])[0]

    def _run_block(self, body: Sequence[c.Stmt], state: State, statement: c.If) -> State | None:
        self._unsure += statement.is_preprocessed
        try:
            return self._run(body, state) if statement.test is None else self._scoped(body, state)
        finally:
            self._unsure -= statement.is_preprocessed

    def _loop(self, statement: c.Loop, state: State) -> State | None:
        before = dict(state.variables)
        end = self._loop_within(statement, state)
        if end is not None:
            for one in statement.first:
                if isinstance(one, c.Declare):
                    end.variables.pop(one.name, None)
                    if one.name in before:
                        end.variables[one.name] = before[one.name]
        return end

    def _loop_within(self, statement: c.Loop, state: State) -> State | None:
        started = self._run(statement.first, state)
        if started is None:
            return None
        jumps = any(isinstance(node, (c.Jump, c.Return, c.Leave)) for node in walk(statement.body))
        if not jumps and statement.test is not None:
            done, turned = self._turns(statement, started)
            if done:
                return turned
        self._havoc(changed((*statement.body, *statement.step), self._program.passes_variables), started)
        inside = started.copy()
        test = None if statement.test is None else self._test(statement.test, inside)
        if test is None or self._assume(test, inside, True):
            outer, self._frames[-1].jumps = self._frames[-1].jumps, []
            self._scoped(statement.body, inside)
            self._frames[-1].jumps = outer
        return started

    def _turns(self, statement: c.Loop, state: State) -> tuple[bool, State | None]:
        """Run a loop whose test is known at each turn; False when it is not."""
        current, noted, launched = state.copy(), len(self._encodes), len(self._launches)
        for _ in range(MOST_TURNS + 1):
            assert statement.test is not None
            test = self._test(statement.test, current)
            decided = None if test is None else is_true(test, current.known)
            if decided is None:
                break
            if not decided:
                return True, current
            after = self._scoped(statement.body, current)
            after = None if after is None else self._run(statement.step, after)
            if after is None:
                return True, None
            current = after
        del self._encodes[noted:]
        del self._launches[launched:]
        return False, None

    def _switch(self, statement: c.Switch, state: State) -> State | None:
        subject = self._value(statement.subject, state)
        outer, self._frames[-1].jumps = self._frames[-1].jumps, []
        ends: list[State] = []
        has_default = False
        certain = False
        for position, (label, _) in enumerate(statement.cases):
            entry = state.copy()
            has_default = has_default or label is None
            if label is not None:
                match = self._binary("==", subject, self._value(label, state), entry, "")
                test = as_test(match, entry.known)
                decided = None if test is None else is_true(test, entry.known)
                if decided is False or (test is not None and not self._assume(test, entry, True)):
                    continue
                certain = certain or decided is True
            elif certain:
                continue
            body = [one for _, part in statement.cases[position:] for one in part]
            end = self._scoped(body, entry)
            ends += [] if end is None else [end]
        ends += self._frames[-1].jumps
        self._frames[-1].jumps = outer
        if not has_default and not certain:
            ends.append(state)
        final: State | None = None
        for end in ends:
            final = end if final is None else self._joined(final, end, None, [])[0]
        return final


__all__ = ["Encode", "Interpreter", "State"]
