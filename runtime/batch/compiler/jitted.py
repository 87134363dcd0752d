"""The intrinsics as numba's functions, under their names: what kernels call that numba compiles."""
from __future__ import annotations

from types import FunctionType
from typing import Any

from runtime.batch.compiler import intrinsics
from runtime.batch.compiler.numba_cache import cache_kernel


def _compile_functions() -> dict[str, Any]:
    """numba's functions, which call each other; they count references, though kernels do not."""
    plain = {name: each for name, each in vars(intrinsics).items() if isinstance(each, FunctionType)}
    functions: dict[str, Any] = {**vars(intrinsics), "__name__": __name__}
    compiled = cache_kernel(error_model="numpy", forceinline=False,
        _nrt=True)  # options that are not given would be those of the first caller
    for name, each in plain.items():
        functions[name] = compiled(FunctionType(each.__code__, functions, name))
    return {name: functions[name] for name in plain}


globals().update(_compile_functions())
