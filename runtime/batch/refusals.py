"""Why a statement stays in the row tier."""
from __future__ import annotations

from epl.errors import EplUnsupportedError


class NotCompilable(Exception):
    """The plan has something that no kernel is printed for; the message is the reason that explain() gives."""


def not_in_columns(what: str) -> NotCompilable:
    """Return the error that ``what`` has no kernel."""
    return NotCompilable(f"{what} is not computed in columns")


def not_in_rule_set(what: str) -> NotCompilable:
    """Return the error that a statement with ``what`` cannot be in a rule set."""
    return NotCompilable(f"{what} is not in a rule set")


class Declined(Exception):
    """A kernel cannot take this batch (a table entry raised, a value does not fit): nothing has been done, the row tier takes over."""


class NotInBatchTier(EplUnsupportedError):
    """A statement, or a batch, that ``tier="batch"`` does not run; the message says why."""
