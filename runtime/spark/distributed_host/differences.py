"""What distinguishes the statements of a checkpoint from those that are to go on with it, for the error that refuses them."""
from __future__ import annotations

from collections.abc import Iterator

import attrs

from epl.errors import EplError
from epl.event_types import EventType
from epl.reprs import brief
from runtime.api.runtime import Runtime
from runtime.spark.task import Task

REST = "its statement=, time= or sequence= was another one"


def difference(task: Task, snapshot: bytes) -> str | None:
    """Return which parts differ between a task and the snapshot of an engine: statements, properties of types, settings; what snapshots do
    not hold is named where these are the same. None where the snapshot cannot be restored by this task."""
    try:
        before = Runtime.restore(
            snapshot, functions=task.functions, tier="row", python_imports=task.settings.python_imports, register=task.historical)
        with before, task.runtime(0) as now:
            now.deploy(task.epl)
            listed = [*_statements(before, now), *_types(task, before, now), *_settings(before, now)]
    except EplError:
        return None
    return "; ".join(listed) or REST


def _statements(before: Runtime, now: Runtime) -> Iterator[str]:
    old, new = ({s.name: s.plan.text for d in each.deployments.values() for s in d} for each in (before, now))
    for name in old.keys() - new.keys():
        yield f"statement '{name}' is gone"
    for name, text in new.items():
        if name not in old:
            yield f"statement '{name}' is new"
        elif text != old[name]:
            yield f"statement '{name}' was {brief(old[name])} and is {brief(text)}"


def _types(task: Task, before: Runtime, now: Runtime) -> Iterator[str]:
    for name in task.type_names:
        try:
            old = before.event_type(name)
        except EplError:
            yield f"the source '{name}' is new"
            continue
        yield from _properties(name, old, now.event_type(name))


def _properties(name: str, old: EventType, new: EventType) -> Iterator[str]:
    for prop in old.names:
        if prop not in new.properties:
            yield f"property '{prop}' of '{name}' is gone"
        elif str(old.properties[prop].type) != str(new.properties[prop].type):
            yield f"property '{prop}' of '{name}' was {old.properties[prop].type} and is {new.properties[prop].type}"
    for prop in new.names:
        if prop not in old.properties:
            yield f"property '{prop}' of '{name}' is new"


def _settings(before: Runtime, now: Runtime) -> Iterator[str]:
    for field in attrs.fields(type(now.settings)):
        old, new = getattr(before.settings, field.name), getattr(now.settings, field.name)
        if old != new:
            yield f"the setting {field.name} was {brief(old)} and is {brief(new)}"


__all__ = ["difference"]
