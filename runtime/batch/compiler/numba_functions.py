"""How kernels and their parts are decorated. Where a numba's insides are not those that ``numba_compiler`` knows it compiles them its own
way, in more time."""
from __future__ import annotations

from typing import Any

import numba

from runtime.batch.compiler.numba_cache import kept

_njit: Any = numba.njit
"""With options that its types do not tell."""


def _compiler() -> dict[str, Any]:
    try:
        from runtime.batch.compiler.numba_compiler import KernelCompiler
    except ImportError:
        return {}
    return {"pipeline_class": KernelCompiler, "_nrt": False, "no_cfunc_wrapper": True}


OPTIONS = {"error_model": "numpy", **_compiler()}

as_kernel = kept(nogil=True, **OPTIONS)
"""The function that the host calls."""

as_part = _njit(forceinline=True, no_cpython_wrapper=True, **OPTIONS)
"""A function that a kernel calls, several times: it is typed and lowered once. Inlined, since a call hands some hundred numbers over, seven
for each array, which takes as long as what is done there."""


__all__ = ["as_kernel", "as_part"]
