"""Checks that a plan is consistent in itself: what is wrong is an error of the analysis, never of the user."""
from __future__ import annotations


def check(consistent: bool, contradiction: str) -> None:
    """Raise ValueError, naming the contradiction, unless the plan is consistent."""
    if not consistent:
        raise ValueError(f"the plan contradicts itself: {contradiction}")


__all__ = ["check"]
