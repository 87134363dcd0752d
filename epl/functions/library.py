"""The built-in functions of the language, one registry."""
from __future__ import annotations

from functools import lru_cache

from epl.functions.calendars import TimeSettings
from epl.functions.casts import add_casts
from epl.functions.date_time import add_date_time
from epl.functions.enumeration import add_enumeration
from epl.functions.interval_methods import add_intervals
from epl.functions.java_big import add_big_numbers
from epl.functions.java_dates import add_dates
from epl.functions.java_math import add_math
from epl.functions.java_numbers import add_number_classes
from epl.functions.java_objects import add_objects
from epl.functions.java_strings import add_strings
from epl.functions.registry import FunctionRegistry
from epl.functions.spatial import add_spatial
from epl.settings import Settings


def builtin_functions(settings: Settings | None = None) -> FunctionRegistry:
    """Return a fresh registry of all built-in functions, for a runtime to extend; time zone, time unit and math context are those of the
    settings."""
    return _build_library(settings or Settings()).copy()


@lru_cache(maxsize=8)
def _build_library(settings: Settings) -> FunctionRegistry:
    registry = FunctionRegistry()
    time = TimeSettings.of(settings.time_zone, settings.time_unit)
    add_date_time(registry, time)
    add_intervals(registry, time)
    add_dates(registry, time.zone)
    add_casts(registry, time)
    for family in (add_strings, add_math, add_number_classes, add_big_numbers, add_objects, add_spatial):
        family(registry)
    add_enumeration(registry, settings.math_context)
    return registry
