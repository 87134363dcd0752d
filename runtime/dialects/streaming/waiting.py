"""Expressions over rows of which some have not come yet: NEXT waits, and what does not depend on it does not."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from epl.dialects import typed as y
from epl.dialects.errors import raise_failure
from epl.dialects.plans import RecognitionPlan
from runtime.dialects.expressions import FAILURES, Function
from runtime.dialects.frames import Frame, FrameCompiler


class Waiting(Exception):
    """A value depends on a row that has not come."""


class StreamFrameCompiler(FrameCompiler):
    """Compiles as ``FrameCompiler``; a function raises ``Waiting`` where its value depends on a row that has not come."""

    def compile_expression(self, typed: y.Typed) -> Function:
        """Return the function that computes the expression."""
        if isinstance(typed, y.Junction) and looks_ahead(typed):
            return _junction([self.compile_expression(each) for each in typed.operands], typed.is_all, is_condition=False)
        if isinstance(typed, y.Apply) and not typed.takes_null and looks_ahead(typed):
            return _strict(typed.function, [self.compile_expression(each) for each in typed.arguments], typed.at)
        return super().compile_expression(typed)

    def condition(self, typed: y.Typed) -> Function:
        """Return the function that computes a condition, which holds where it is true: null is as good as false."""
        if isinstance(typed, y.Junction) and looks_ahead(typed):
            return _junction([self.condition(each) for each in typed.operands], typed.is_all, is_condition=True)
        return self.compile_expression(typed)

    def _position(self, navigation: y.Navigation, of_label: bool) -> Callable[[Any], int]:
        shift = navigation.shift
        if shift <= 0 or of_label:
            return super()._position(navigation, of_label)
        base = super()._position(attrs.evolve(navigation, shift=0), of_label)

        def position(frame: Frame) -> int:
            place = base(frame)
            if place < 0:
                return -1
            rows: Any = frame.rows
            if place + shift < len(rows):
                return place + shift
            if not rows.ended:
                raise Waiting
            return -1

        return position


def _junction(operands: list[Function], is_all: bool, *, is_condition: bool) -> Function:
    """``is_condition``: of all operands, one that is null decides as one that is false."""
    decided_by_null = is_condition and is_all

    def compute(frame: Frame) -> bool | None:
        unknown = waits = False
        for operand in operands:
            try:
                value = operand(frame)
            except Waiting:
                waits = True
                continue
            except Exception:
                if waits:  # where the value before decides, this one is not asked
                    raise Waiting from None
                raise
            if value is None:
                unknown = True
            elif value is not is_all:
                return not is_all
        if waits and not (unknown and decided_by_null):
            raise Waiting
        return None if unknown else is_all

    return compute


def _strict(function: Callable[..., Any], arguments: list[Function], at: int | None) -> Function:
    """Return a null argument gives null, whatever the others are."""

    def compute(frame: Frame) -> Any:
        values = []
        waits = False
        for argument in arguments:
            try:
                value = argument(frame)
            except Waiting:
                waits = True
                continue
            if value is None:
                return None
            values.append(value)
        if waits:
            raise Waiting
        try:
            return function(*values)
        except FAILURES as error:
            raise_failure(error, at)

    return compute


def looks_ahead(typed: y.Typed) -> bool:
    """Return whether a value may depend on rows after the one at hand."""
    return any(isinstance(node, y.Navigated) and node.navigation.shift > 0 and node.column is not None for node in y.walk(typed))


def looks_behind(plan: RecognitionPlan) -> int:
    """Return how many rows before a match its expressions may read."""
    nodes = (node for typed in (*plan.measures, *plan.defines.values()) for node in y.walk(typed))
    return max((0, *(-node.navigation.shift for node in nodes if isinstance(node, y.Navigated))))


def numbers_matches(plan: RecognitionPlan) -> bool:
    """Return whether an expression reads the number of the match."""
    return any(isinstance(node, y.MatchNumber) for typed in (*plan.measures, *plan.defines.values()) for node in y.walk(typed))


__all__ = ["StreamFrameCompiler", "Waiting", "looks_ahead", "looks_behind", "numbers_matches"]
