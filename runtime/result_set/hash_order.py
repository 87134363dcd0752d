"""The order in which Esper emits groups: that of a Java HashMap of their keys.

Keys whose Java hash is an object's identity have no order there; they keep that of arrival here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from epl.java_hash import hash_of_keys, in_hash_order
from epl.value_types import ValueType

Key = TypeVar("Key")


def ordering(types: Sequence[ValueType]) -> Callable[[Sequence[Key]], list[int]] | None:
    """Return keys in order of arrival → their positions in the order of a HashMap; None where the order of arrival is kept.

    >>> from epl.value_types import STRING
    >>> order = ordering([STRING]); keys = ["zeta", "B", "Hello", "A"]
    >>> [keys[i] for i in order(keys)]
    ['zeta', 'A', 'B', 'Hello']
    """
    hash_of = hash_of_keys(types)
    if hash_of is None:
        return None
    return lambda keys: [0] if len(keys) == 1 else in_hash_order(map(hash_of, keys), len(keys))
