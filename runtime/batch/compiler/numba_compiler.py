"""How numba compiles kernels: without the passes that find nothing to do in printed source, and with types found once for equal operations.

A kernel is one long function in which the same few operations on the same few types come hundreds of times; numba looks each up among
dozens of templates, which took a sixth of the time. Kernels make no arrays and keep none, so they are compiled without counting references.
"""
from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from numba.core import types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager

NEEDLESS = frozenset({"inline_closure_likes", "rewrite_semantic_constants", "dead_branch_prune", "inline_inlinables", "nopython_rewrites"})
"""Passes for closures, array expressions and branches on constants."""


class KernelCompiler(CompilerBase):
    """numba's pipeline for a printed function."""

    def define_pipelines(self) -> list[PassManager]:
        self.state.typingctx = _remembering(self.state.typingctx)
        builder: Any = DefaultPassBuilder
        manager = builder.define_nopython_pipeline(self.state)
        manager.passes = [each for each in manager.passes if each[0].name() not in NEEDLESS]
        manager.finalize()
        return [manager]


def _remembering(context: Any) -> Any:
    """The typing context, its state shared, that asks once for each function and types of arguments."""
    found: dict[Hashable, Any] = {}

    class Remembering(type(context)):  # type: ignore[misc]
        def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
            if kws or not isinstance(func, types.Function):
                return super().resolve_function_type(func, args, kws)
            key = (func, tuple(args))
            if key not in found:
                made = super().resolve_function_type(func, args, kws)
                if made is None:
                    return None
                found[key] = made
            return found[key]

    made = object.__new__(Remembering)
    made.__dict__ = context.__dict__
    return made


__all__ = ["KernelCompiler"]
