"""Statements that many runtimes run, compiled once."""
from __future__ import annotations

from functools import lru_cache

from epl.plan.statements import ModulePlan
from runtime import Runtime


@lru_cache(maxsize=64)
def declared(schema: str) -> ModulePlan:
    """The module that declares the types, for all runtimes."""
    return Runtime(tier="row").compile(schema)


@lru_cache(maxsize=4096)
def compiled_once(schema: str, text: str) -> tuple[Runtime, ModulePlan]:
    """A runtime that knows the types, and the module of the statement."""
    runtime = Runtime(tier="row")
    runtime.deploy(declared(schema))
    return runtime, runtime.compile(f"@name('s0') {text}")
