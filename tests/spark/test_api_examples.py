"""The examples in the docstrings of runtime.spark run."""

from __future__ import annotations

import inspect
import re
import textwrap

import pytest

import runtime.spark

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("spark")]
"""The session of all tests comes first: an example would start one with other options."""


@pytest.mark.parametrize("name", runtime.spark.__all__)
def test_example_runs(name: str) -> None:
    (block,) = re.findall(r"```python\n(.*?)^ *```", inspect.getdoc(getattr(runtime.spark, name)) or "", re.MULTILINE | re.DOTALL)
    exec(compile(textwrap.dedent(block), name, "exec"), {"__name__": "example"})  # noqa: S102 - the project's own docstring
