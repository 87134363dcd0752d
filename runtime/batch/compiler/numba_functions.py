"""How kernels and their parts are decorated. numba compiles what the printer for LLVM does not know."""
from __future__ import annotations

from typing import Any

import numba

from runtime.batch.compiler.numba_cache import cache_kernel

_njit: Any = numba.njit
"""With options that its types do not have."""
OPTIONS: dict[str, Any] = {"error_model": "numpy"}

as_kernel = cache_kernel(nogil=True, **OPTIONS)
"""The function that the host calls."""

as_part = _njit(forceinline=True, no_cpython_wrapper=True, **OPTIONS)
"""A function that a kernel calls, several times: it is typed and lowered once. Inlined, since a call hands some hundred numbers over, seven
for each array, which takes as long as what is done there."""


__all__ = ["as_kernel", "as_part"]
