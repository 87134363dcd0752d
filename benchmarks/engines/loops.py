"""Loops by hand, compiled by numba (benchmarks/kernels.py): the least that one core needs for these rows."""
from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from benchmarks import kernels
from benchmarks.data import Array, Data
from benchmarks.engine import NotRun, Prepared
from benchmarks.engines.with_numpy import Columns, NumpySession, Step
from benchmarks.workloads import Workload

INT, LONG, DOUBLE = np.int32, np.int64, np.float64


def _none(keys: int) -> tuple[Array, ...]:
    return ()


@attrs.frozen
class Loop:
    """A kernel, called with state, ``columns``, ``constants``, the first row's number if ``placed``, and two arrays of ``kinds`` for
    ``room`` rows an event.
    """

    kernel: str
    columns: tuple[str, ...]
    kinds: tuple[Any, Any]
    state: Callable[[int], tuple[Array, ...]] = _none
    constants: tuple[float, ...] = ()
    placed: bool = False
    room: int = 1

    def step(self, data: Data, compiled: Callable[[Any], Any]) -> Step:
        kernel, state = compiled(getattr(kernels, self.kernel)), self.state(data.keys)

        def step(first: int, last: int) -> Columns:
            columns = [getattr(data, name)[first:last] for name in self.columns]
            one, two = (np.empty(self.room * (last - first), kind) for kind in self.kinds)
            written = kernel(*state, *columns, *self.constants, *((first,) if self.placed else ()), one, two)
            return one[:written], two[:written]

        return step


def _runs(keys: int) -> tuple[Array, ...]:
    return np.full(keys, -1, LONG), np.zeros((keys, 2))


def _in_time(keys: int) -> tuple[Array, ...]:
    return np.zeros((keys, 2), LONG), np.zeros(keys + 10_000), np.zeros((10_000, 2), LONG)


def _seconds(keys: int) -> tuple[Array, ...]:
    """The first output is due a second behind the first event, which comes at 1 ms."""
    return np.array([0, 1001]), np.zeros(keys, LONG), np.zeros((2, keys), LONG)


LOOPS: dict[str, Loop] = {
    "W1": Loop("filtered", ("symbol", "price"), (INT, DOUBLE)),
    "W2": Loop("running", ("volume",), (LONG, LONG), lambda keys: (np.zeros(2, LONG),)),
    "W3": Loop("in_time", ("symbol", "price", "volume"), (DOUBLE, LONG), _in_time, placed=True, room=2),
    "W4": Loop("sliding", ("price",), (DOUBLE, DOUBLE), lambda keys: (np.zeros(1), np.zeros(1024), np.zeros(1026, LONG)), placed=True),
    "W5sel": Loop("rising_falling", ("symbol", "price"), (DOUBLE, DOUBLE), _runs, (10.0, 5.0)),
    "W5all": Loop("rising_falling", ("symbol", "price"), (DOUBLE, DOUBLE), _runs, (np.inf, np.inf)),
    "W5abcd": Loop(
        "four_rising", ("symbol", "price"), (LONG, LONG), lambda keys: (np.zeros(keys, LONG), np.zeros((keys, 4), LONG), np.zeros(keys)),
        placed=True,
    ),
    "W7": Loop("divided", ("symbol", "price"), (INT, DOUBLE)),
    "W10": Loop("last_each_second", ("symbol", "volume"), (LONG, LONG), _seconds, placed=True),
}


class Loops:
    name = "loops"
    version = ""

    def prepare(self, prepared: Prepared) -> None:
        if importlib.util.find_spec("numba") is None:
            raise NotRun("pip install numba")
        import numba

        self.data, self.version = prepared.data, f"numba {numba.__version__}"
        self.compiled: Any = numba.njit(error_model="numpy", nogil=True)

    def open(self, workload: Workload) -> NumpySession:
        if workload.name not in LOOPS:
            raise NotRun("nobody wrote that loop")
        return NumpySession(workload, LOOPS[workload.name].step(self.data, self.compiled))

    def close(self) -> None:
        pass


__all__ = ["Loops"]
