"""``read_esper_config``: what a configuration file of Esper says, and a runtime that has it."""
from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from epl.errors import EplDeploymentError, EplError, EplWarning
from epl.settings import Settings
from epl.value_types import find_type
from runtime.api.runtime import Runtime, internal_engine
from runtime.connectors.cells import cell_value
from runtime.esper_config.elements import LARGEST, XmlElement, element_error, read_elements, require_attribute
from runtime.esper_config.settings import (
    ATTRIBUTES_WITHOUT_MEANING,
    CONTAINERS,
    NOT_HERE,
    PLUGINS,
    WITHOUT_MEANING,
    read_setting,
    setting_error,
)
from runtime.esper_config.types import TypeDeclaration, in_order, read_declaration, read_variant

OF_COMMON = ("event-type", "auto-import", "auto-import-annotations", "variant-stream", "variable")
SECTIONS = ("common", "compiler", "runtime")
BEFORE_8 = (
    "files of Esper before 8 have no sections: put event types, imports and variables into <common>, settings into <compiler> and <runtime>"
)


@attrs.frozen
class Remark:
    """Something in the file that has no effect here. ``kind``: ``unknown`` (no element or attribute of Esper), ``not here`` (there is
    another way) or ``no effect`` (it does not change what is emitted)."""

    kind: str
    line: int
    column: int
    message: str
    hint: str | None = None


@attrs.frozen
class VariableSetting:
    name: str
    type: str
    value: str | None
    is_constant: bool
    element: XmlElement


@attrs.frozen
class Plugins:
    """Names by which EPL calls code of Java's, as the file declares them."""

    functions: tuple[str, ...] = ()
    aggregations: tuple[str, ...] = ()


@attrs.frozen
class EsperConfig:
    """What a configuration file says.

    Attributes:
        settings: The settings that it changes, the others as Esper has them, except ``default_access``.
        remarks: What in it has no effect here.
        classes: Event types of Java classes: the class by the type's name. They are declared by ``create schema``, or given to ``runtime``.
        plugins: Names of the functions and aggregations of Java that it declares. Python's are registered in their place.

    Examples:
        >>> config = EsperConfig.parse(b\"\"\"<esper-configuration><common>
        ...   <event-type name="Trade"><java-util-map><map-property name="price" class="double"/></java-util-map></event-type>
        ...   <variable name="least" type="double" initialization-value="5"/>
        ... </common><compiler><expression integer-division="true"/></compiler></esper-configuration>\"\"\")
        >>> config.settings.integer_division
        True
        >>> runtime = config.runtime()
        >>> deployment = runtime.deploy("@name('s') select price, 3 / 2 as n from Trade(price > least)#keepall")
        >>> runtime.send("Trade", {"price": 7.0})
        >>> list(deployment["s"])
        [{'price': 7.0, 'n': 1}]
    """

    file: str
    settings: Settings
    remarks: tuple[Remark, ...]
    classes: Mapping[str, str]
    plugins: Plugins
    _types: tuple[TypeDeclaration, ...]
    _variables: tuple[VariableSetting, ...]

    @classmethod
    def parse(cls, content: bytes, file: str = "esper.cfg.xml") -> EsperConfig:
        """Read the bytes of a file.

        Args:
            content: XML, of 4 MB at most.
            file: Its name, for errors.

        Raises:
            EplDeploymentError: It is no such file, has a document type, or a value cannot be; the message has line and column.
        """
        return _Reader(file).read(read_elements(content, file))

    def runtime(self, *, classes: Mapping[str, Any] | None = None, warn: bool = True, **options: Any) -> Runtime:
        """Return a runtime with the settings, event types and variables.

        Args:
            classes: What ``Runtime.register`` takes, by the name of an event type or of its Java class: for types of classes.
            warn: Give an ``EplWarning`` for each remark that is not ``no effect``.
            options: As for ``Runtime``; ``settings`` takes the place of the file's.

        Raises:
            EplDeploymentError: A type or variable cannot be declared; the message has line and column.
        """
        if warn:
            for remark in self.remarks:
                if remark.kind != "no effect":
                    warnings.warn(self.remark_text(remark), EplWarning, stacklevel=2)
        runtime = Runtime(**{"settings": self.settings, **options})
        self.declare(runtime, classes or {})
        return runtime

    def remark_text(self, remark: Remark) -> str:
        """Return a remark as compilers print them."""
        hint = f" ({remark.hint})" if remark.hint else ""
        return f"{self.file}:{remark.line}:{remark.column}: {remark.message}{hint}"

    def declare(self, runtime: Runtime, classes: Mapping[str, Any]) -> None:
        """Declare the event types and variables in a runtime.

        Args:
            runtime: The runtime.
            classes: As for ``runtime``.

        Raises:
            EplDeploymentError: As for ``runtime``.
        """
        for name, java_class in self.classes.items():
            schema = classes.get(name, classes.get(java_class))
            if schema is not None:
                runtime.register(name, schema)
        scratch = Runtime(settings=attrs.evolve(self.settings, annotations="keep"))
        for event_type in internal_engine(runtime).catalog().event_types.values():
            if event_type.is_bus:
                scratch.register_type(event_type)
        for declaration in self._types:
            try:
                scratch.deploy(declaration.text)
                runtime.register_type(scratch.event_type(declaration.name))
            except EplError as error:
                raise element_error(self.file, declaration.element, error.message, error.hint) from None
        for variable in self._variables:
            self._declare(runtime, variable)

    def _declare(self, runtime: Runtime, variable: VariableSetting) -> None:
        try:
            declared = find_type(variable.type)
            if declared is None:
                raise EplDeploymentError(f"Invalid variable type for variable '{variable.name}', the type is not recognized")
            value = cell_value(variable.value, declared.boxed)
            runtime.declare_variable(variable.name, declared.boxed, value, constant=variable.is_constant)
        except EplError as error:
            raise element_error(self.file, variable.element, error.message, error.hint) from None


class _Reader:
    """Reads one file."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._changes: dict[str, tuple[Any, XmlElement]] = {}
        self._remarks: list[Remark] = []
        self._imports: list[str] = []
        self._types: list[TypeDeclaration] = []
        self._variables: list[VariableSetting] = []
        self._classes: dict[str, str] = {}
        self._plugins: dict[str, list[str]] = {"functions": [], "aggregations": []}

    def read(self, root: XmlElement) -> EsperConfig:
        if root.name != "esper-configuration":
            raise element_error(self.file, root, f"the root is esper-configuration, not {root.name}")
        for section in root.children:
            if section.name in SECTIONS:
                self._section(section.name, section)
            else:
                old = section.name in OF_COMMON or section.name == "engine-settings"
                self._remark("unknown", section, f"element '{section.name}' is not read here", BEFORE_8 if old else None)
        settings = Settings(imports=tuple(dict.fromkeys(self._imports)))
        for name, (value, element) in self._changes.items():
            try:
                settings = attrs.evolve(settings, **{name: value})
            except ValueError as error:
                raise setting_error(self.file, element, error) from None
        return EsperConfig(
            self.file, settings, tuple(self._remarks), self._classes,
            Plugins(tuple(self._plugins["functions"]), tuple(self._plugins["aggregations"])),
            tuple(in_order(self.file, self._types)), tuple(self._variables),
        )

    def _remark(self, kind: str, element: XmlElement, message: str, hint: str | None = None) -> None:
        self._remarks.append(Remark(kind, element.line, element.column, message, hint))

    def _section(self, path: str, element: XmlElement) -> None:
        """Read an element whose children and attributes are settings, types and variables."""
        for attribute in element.attributes:
            setting = read_setting(self.file, path, element, attribute)
            if setting is not None:
                self._changes[setting[0]] = (setting[1], element)
            else:
                known = (path, attribute) in ATTRIBUTES_WITHOUT_MEANING
                self._remark("no effect" if known else "unknown", element, f"attribute '{attribute}' of '{path}' has no effect here")
        for child in element.children:
            inner = f"{path}/{child.name}"
            if path == "common" and child.name in OF_COMMON:
                self._common(child)
            elif inner in CONTAINERS:
                self._section(inner, child)
            elif inner in WITHOUT_MEANING:
                self._remark("no effect", child, f"element '{inner}' has no effect here")
            elif inner in PLUGINS:
                kind, hint = PLUGINS[inner]
                self._plugins[kind].append(name := require_attribute(self.file, child, "name"))
                self._remark("not here", child, f"'{name}' of '{inner}' is code of Java's", hint)
            elif inner in NOT_HERE:
                self._remark("not here", child, f"element '{inner}' has no effect here", NOT_HERE[inner])
            else:
                self._remark("unknown", child, f"element '{inner}' is not known")

    def _common(self, element: XmlElement) -> None:
        if element.name.startswith("auto-import"):
            self._imports.append(require_attribute(self.file, element, "import-name"))
        elif element.name == "variant-stream":
            self._types.append(read_variant(self.file, element))
        elif element.name == "variable":
            self._variable(element)
        else:
            self._event_type(element)

    def _variable(self, element: XmlElement) -> None:
        is_constant = element.attributes.get("constant", "false").strip().lower() == "true"
        name, written = require_attribute(self.file, element, "name"), require_attribute(self.file, element, "type")
        self._variables.append(VariableSetting(name, written, element.attributes.get("initialization-value"), is_constant, element))

    def _event_type(self, element: XmlElement) -> None:
        declaration = read_declaration(self.file, element)
        if declaration is not None:
            self._types.append(declaration)
            return
        name = require_attribute(self.file, element, "name")
        java_class = element.attributes.get("class", "").strip()
        if java_class:
            self._classes[name] = java_class
            hint = f"create schema {name}, or classes={{'{name}': a dataclass or a dict of types}}"
            self._remark("not here", element, f"event type '{name}' is of the Java class {java_class}", hint)
        else:
            of_what = element.children[0].name if element.children else "nothing"
            self._remark("not here", element, f"event type '{name}' is of {of_what}", f"declare it: create schema {name}(…)")


def read_esper_config(path: str | Path) -> EsperConfig:
    """Read a configuration file of Esper.

    Args:
        path: ``esper.cfg.xml``, in the layout of Esper 8 and 9.

    Raises:
        OSError: It cannot be read.
        EplDeploymentError: As for ``EsperConfig.parse``.

    Examples:
        >>> config = read_esper_config("examples/esper.cfg.xml")
        >>> config.settings.time_zone
        'Europe/Berlin'
    """
    with Path(path).open("rb") as file:
        return EsperConfig.parse(file.read(LARGEST + 1), str(path))


__all__ = ["EsperConfig", "Remark", "read_esper_config"]
