"""esper.cfg.xml is read as Esper 9.0.0 reads it; what is expected here was asked of it (`Configuration.configure`)."""
from __future__ import annotations

import re
from pathlib import Path

import attrs
import pytest

from epl.errors import EplDeploymentError, EplWarning
from epl.settings import Settings
from runtime.cli import main
from runtime.esper_config import EsperConfig, read_esper_config

ROOT = Path(__file__).resolve().parents[2]


def parse(inner: str) -> EsperConfig:
    return EsperConfig.parse(f"<esper-configuration xmlns='http://www.espertech.com/schema/esper'>{inner}</esper-configuration>".encode())


TYPES = """<common>
<event-type name="Trade"><java-util-map supertype-names="Base" start-timestamp-property-name="ts" end-timestamp-property-name="ts">
  <map-property name="i" class="int"/><map-property name="s" class="string"/><map-property name="arr" class="int[]"/>
  <map-property name="d" class="java.util.Date"/><map-property name="bd" class="java.math.BigDecimal"/>
  <map-property name="ts" class="long"/>
</java-util-map></event-type>
<event-type name="Base"><java-util-map><map-property name="id" class="java.lang.String"/></java-util-map></event-type>
<event-type name="OA"><objectarray>
  <objectarray-property name="a" class="int"/><objectarray-property name="b" class="double[]"/></objectarray></event-type>
<variant-stream name="V" type-variance="any"><variant-event-type name="Trade"/></variant-stream>
<variant-stream name="P"><variant-event-type name="Trade"/><variant-event-type name="Base"/></variant-stream>
<variable name="least" type="double" initialization-value="5.5"/>
<variable name="fixed" type="string" initialization-value="x" constant="true"/>
</common>"""


def test_types_are_those_of_esper() -> None:
    runtime = parse(TYPES).runtime()
    assert {name: str(prop.type) for name, prop in runtime.event_type("Trade").properties.items()} == {
        "id": "String", "i": "Integer", "s": "String", "arr": "Integer[]", "d": "Date", "bd": "BigDecimal", "ts": "Long"}
    assert {name: str(prop.type) for name, prop in runtime.event_type("OA").properties.items()} == {"a": "Integer", "b": "Double[]"}
    assert runtime.event_type("OA").kind == "objectarray" and list(runtime.event_type("P").properties) == ["id"]
    assert (runtime.get_variable("least"), runtime.get_variable("fixed")) == (5.5, "x")
    seen: list[object] = []
    runtime.deploy(
        "@name('t') select id, i from Trade(i > least); @name('p') select id from P; @name('b') select id from Base;"
        "insert into V select * from OA; @name('v') select nope? as n from V",
        listeners={name: lambda new, old, statement, _: seen.extend((statement.name, row.to_dict()) for row in new) for name in "tbv"})
    runtime.send("Trade", {"id": "a", "i": 6, "ts": 0})
    runtime.send("OA", [1, None])
    assert seen == [("t", {"id": "a", "i": 6}), ("b", {"id": "a"}), ("v", {"n": None})]
    runtime.undeploy_all()
    assert runtime.event_type("Trade").name == "Trade", "preconfigured types stay"


@pytest.mark.parametrize(("epl", "message"), [
    ("select i+1 from V", "Implicit conversion from datatype 'Object' to numeric is not allowed"),
    ("select i from P", "Property named 'i' is not valid in any stream"),
    ("insert into P select * from OA", "Selected event type is not a valid event type of the variant stream 'P'"),
])
def test_refusals_are_those_of_esper(epl: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        parse(TYPES).runtime().deploy(epl)


@pytest.mark.parametrize(("inner", "changes"), [
    ('<common><event-meta><class-property-resolution style="Case_Insensitive"/></event-meta></common>',
     {"property_resolution": "case_insensitive"}),
    ('<common><event-meta><event-representation type="objectarray"/></event-meta></common>',
     {"default_event_representation": "objectarray"}),
    ('<common><time-source><time-unit value="microseconds"/></time-source></common>', {"time_unit": "microseconds"}),
    ('<compiler><view-resources><iterable-unbound enabled="true"/><outputlimitopt enabled="false"/></view-resources></compiler>',
     {"iterable_unbound": True, "output_limit_opt": False}),
    ('<compiler><stream-selection><stream-selector value="irstream"/></stream-selection></compiler>',
     {"default_stream_selector": "irstream"}),
    ('<compiler><language sort-using-collator="true"/></compiler>', {"sort_using_collator": True}),
    ('<compiler><expression integer-division="TRUE" division-by-zero-is-null="true" udf-cache="false"/></compiler>',
     {"integer_division": True, "division_by_zero_returns_null": True, "udf_cache": False}),
    ('<compiler><execution filter-index-planning="basic"/><scripts enabled="false"/></compiler>',
     {"filter_index_planning": "basic", "scripts_enabled": False}),
    ('<runtime><expression self-subselect-preeval="false" time-zone="GMT-4:00"/></runtime>',
     {"self_subselect_preeval": False, "time_zone": "Etc/GMT+4"}),
    ('<runtime><execution prioritized="true" precedence-enabled="true"/></runtime>', {"prioritized": True, "precedence": True}),
    ('<runtime><match-recognize><max-state value="5" prevent-start="false"/></match-recognize></runtime>',
     {"max_states": 5, "max_states_prevent_start": False}),
    ('<runtime><patterns><max-subexpression value="6" prevent-start="false"/></patterns></runtime>',
     {"max_subexpressions": 6, "max_subexpressions_prevent_start": False}),
    ('<common><auto-import import-name="a.b.*"/><auto-import-annotations import-name="c.D"/></common>', {"imports": ("a.b.*", "c.D")}),
])
def test_settings_are_those_of_esper(inner: str, changes: dict[str, object]) -> None:
    config = parse(inner)
    assert config.settings == attrs.evolve(Settings(), **changes)  # type: ignore[arg-type]
    assert config.remarks == ()


def test_settings_have_their_meaning() -> None:
    compiler = '<compiler><expression integer-division="true"/></compiler>'
    runtime = parse(compiler + '<runtime><expression time-zone="GMT+02:00"/></runtime>').runtime()
    deployment = runtime.deploy(
        "create schema A(x int); @name('s') select x / 2 as h, current_timestamp().getHourOfDay() as at from A#keepall")
    runtime.send("A", {"x": 3})
    assert list(deployment["s"]) == [{"h": 1, "at": 2}]


@pytest.mark.parametrize(("inner", "kind", "message"), [
    ("<nope/>", "unknown", "element 'nope' is not read here"),
    ("<common><nope/></common>", "unknown", "element 'common/nope' is not known"),
    ("<compiler><expression nope='1'/></compiler>", "unknown", "attribute 'nope' of 'compiler/expression' has no effect here"),
    ("<engine-settings><defaults/></engine-settings>", "unknown", "element 'engine-settings' is not read here"),
    ("<compiler><plugin-singlerow-function name='f' function-class='X' function-method='y'/></compiler>", "not here",
     "'f' of 'compiler/plugin-singlerow-function' is code of Java's"),
    ("<common><event-type name='E' class='com.x.E'/></common>", "not here", "event type 'E' is of the Java class com.x.E"),
    ("<common><event-type name='E'><xml-dom root-element-name='r'/></event-type></common>", "not here", "event type 'E' is of xml-dom"),
    ("<runtime><threading/></runtime>", "no effect", "element 'runtime/threading' has no effect here"),
    ("<runtime><execution fairlock='true'/></runtime>", "no effect", "attribute 'fairlock' of 'runtime/execution' has no effect here"),
])
def test_what_has_no_effect_is_told_with_its_place(inner: str, kind: str, message: str) -> None:
    config = EsperConfig.parse(f"<esper-configuration>\n {inner}\n</esper-configuration>".encode())
    (remark,) = config.remarks
    assert (remark.kind, remark.message, remark.line) == (kind, message, 2) and remark.column > 1
    if kind == "no effect":
        config.runtime()
    else:
        with pytest.warns(EplWarning, match=re.escape(message)):
            config.runtime()


@pytest.mark.parametrize(("inner", "message"), [
    ("<common><event-type><java-util-map/></event-type></common>", "Required attribute by name 'name' not found for element 'event-type'"),
    ("<common><variable name='a'/></common>", "Required attribute by name 'type' not found for element 'variable'"),
    ("<common><variable name='a' type='nope.X'/></common>", "Invalid variable type for variable 'a', the type is not recognized"),
    ("<common><variable name='a' type='int' initialization-value='x'/></common>", "'a'"),
    ("<common><auto-import/></common>", "Required attribute by name 'import-name'"),
    ("<common><variant-stream name='V' type-variance='x'/></common>", "Invalid enumeration value for type-variance attribute 'x'"),
    ("<compiler><stream-selection><stream-selector value='x'/></stream-selection></compiler>", "default_stream_selector='x'"),
    ("<compiler><expression integer-division='yes'/></compiler>", "true or false is expected, not 'yes'"),
    ("<runtime><match-recognize><max-state value='x'/></match-recognize></runtime>", "a whole number is expected, not 'x'"),
    ("<runtime><expression time-zone='Nowhere'/></runtime>", "time_zone='Nowhere'"),
    ("<common><event-type name='A'><java-util-map><map-property name='x' class='int); drop'/></java-util-map></event-type></common>",
     "'int\\); drop' is not a type"),
    ("<common><event-type name='A`'><java-util-map/></event-type></common>", "'A`' is not a name"),
    ("<common><event-type name='A'><java-util-map supertype-names='B'/></event-type>"
     "<event-type name='B'><java-util-map supertype-names='A'/></event-type></common>", "event type 'A' refers to itself"),
    ("<common><event-type name='A'><java-util-map><map-property name='x' class='Nope'/></java-util-map></event-type></common>", "Nope"),
])
def test_what_cannot_be_is_refused_with_its_place(inner: str, message: str) -> None:
    with pytest.raises(EplDeploymentError, match=rf"esper\.cfg\.xml:1:\d+: .*{message}"):
        parse(inner).runtime()


@pytest.mark.parametrize(("content", "message"), [
    (b"<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><esper-configuration>&x;</esper-configuration>", "1:.*: a document type"),
    (b"<!DOCTYPE a SYSTEM 'http://127.0.0.1:1/a.dtd'><esper-configuration/>", "a document type"),
    (b"<esper-configuration>&x;</esper-configuration>", "not XML: undefined entity"),
    (b"<esper-configuration>", "not XML: no element found"), (b"", "not XML"), (b"\xff\xfe\x00", "not XML"),
    (b"<?xml version='1.0' encoding='nope'?><esper-configuration/>", "not XML"),
    (b"<other/>", "the root is esper-configuration, not other"),
    (b"<esper-configuration>" * 60, "nested more than 50 deep"), (b" " * ((4 << 20) + 1), "longer than 4 MB"),
])
def test_hostile_files_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(EplDeploymentError, match=message):
        EsperConfig.parse(content)


def test_types_of_classes_are_given_from_python() -> None:
    config = parse("<common><event-type name='E' class='com.x.E'/><event-type name='F'><java-util-map supertype-names='E'>"
                   "<map-property name='y' class='int'/></java-util-map></event-type></common>")
    for name in ("E", "com.x.E"):
        runtime = config.runtime(classes={name: {"x": int}}, warn=False)
        assert list(runtime.event_type("F").properties) == ["x", "y"]


def test_the_command_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, events = tmp_path / "m.epl", tmp_path / "e.jsonl"
    module.write_text("@name('alert') select id, temperature, 3 / 2 as n from Reading(temperature > hot)")
    events.write_text('{"id": "a", "temperature": 31, "ts": 1}\n{"id": "b", "temperature": 29, "ts": 2}\n')
    config = str(ROOT / "examples/esper.cfg.xml")
    assert main(["check", str(module)]) == 1
    capsys.readouterr()
    assert main(["check", str(module), "--config", config]) == 0
    assert main(["run", str(module), "--config", config, "--events", str(events), "--type", "Reading", "--format", "json"]) == 0
    assert '"new": [{"id": "a", "temperature": 31.0, "n": 1}]' in capsys.readouterr().out
    other = tmp_path / "c.xml"
    other.write_text("<esper-configuration><common><nope/></common></esper-configuration>")
    main(["check", str(module), "--config", str(other)])
    assert f"{other}:1:30: warning: element 'common/nope' is not known" in capsys.readouterr().err
    assert main(["check", str(module), "--config", "no-such.xml"]) == 2


def test_the_example_is_read_as_a_whole() -> None:
    config = read_esper_config(ROOT / "examples/esper.cfg.xml")
    assert {remark.kind for remark in config.remarks} == {"no effect"}
    expected = Settings(integer_division=True, time_zone="Europe/Berlin", prioritized=True, imports=("java.util.concurrent.*",))
    assert config.settings == expected
