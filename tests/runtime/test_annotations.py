"""Annotations that are not Esper's: kept as metadata with a warning, or refused, as the settings say."""
from __future__ import annotations

import warnings

import pytest

from epl.errors import EplValidationError, EplWarning
from epl.settings import Settings
from runtime import Runtime
from tests.replay.player import replay_trace

TEXT = """create schema A(id string);
@name('s') @RSAAlert(oneInSeconds=5, identifiers={"ip_src", "user"}) @com.acme.Severity(high) @Description('d') select id from A"""


def test_are_kept_with_a_warning_at_the_call() -> None:
    with Runtime() as runtime, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        statement = runtime.deploy(TEXT)["s"]
    assert [str(w.message) for w in caught] == [
        "Annotation '@RSAAlert' is not one of Esper's: it is kept as metadata and has no effect",
        "Annotation '@com.acme.Severity' is not one of Esper's: it is kept as metadata and has no effect",
    ]
    assert {w.filename for w in caught} == {__file__} and {w.category for w in caught} == {EplWarning}
    assert [a.name for a in statement.annotations] == ["name", "RSAAlert", "com.acme.Severity", "Description"]
    assert statement.annotations[1].attributes == {"oneInSeconds": 5, "identifiers": ("ip_src", "user")}
    assert statement.annotations[3].get() == "d"


def test_survive_a_restart() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EplWarning)
        with Runtime(settings=Settings(annotations=("Severity", "RSAAlert"))) as runtime:
            runtime.deploy(TEXT)
            blob = runtime.snapshot()
            kept = runtime.statement("s").annotations
    with Runtime.restore(blob) as restored:
        assert restored.statement("s").annotations == kept
        assert restored.settings.annotations == ("RSAAlert", "Severity")


@pytest.mark.parametrize("near", ["@Nmae('x')", "@prioriy(5)", "@Dropp"])
def test_a_misspelt_one_of_espers_is_suggested(near: str) -> None:
    with Runtime() as runtime, pytest.warns(EplWarning, match="did you mean '@(Name|Priority|Drop)'"):
        runtime.deploy(f"create schema A(id string); {near} select id from A")


@pytest.mark.parametrize("settings", [Settings(annotations="refuse"), Settings(annotations=("Severity",)), Settings(annotations=())])
def test_are_refused_in_espers_words(settings: Settings) -> None:
    with Runtime(settings=settings) as runtime, pytest.raises(EplValidationError) as refusal:
        runtime.deploy(TEXT)
    assert refusal.value.message.endswith("Could not load annotation class by name 'RSAAlert', please check imports")
    assert refusal.value.position == (2, 12)
    assert refusal.value.hint == "import its name, or name it in Settings(annotations=…), to have it kept"


@pytest.mark.parametrize(
    ("settings", "head"),
    [
        (Settings(annotations=["RSAAlert", "com.acme.Severity"]), ""),  # type: ignore[arg-type]
        (Settings(imports=("com.rsa.RSAAlert", "a.Severity")), "import com.acme.*; "),
    ],
)
def test_names_that_are_given_or_imported_are_kept_in_silence(settings: Settings, head: str) -> None:
    with Runtime(settings=settings) as runtime, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(runtime.deploy(head + TEXT)["s"].annotations) == 4


def test_contradictions_and_wrong_values_are_refused_all_the_same() -> None:
    with Runtime() as runtime:
        for text, words in (
            ("@name(5) select id from A", "requires a String-typed value"),
            ("@public @private create schema B(id string)", "Encountered both"),
        ):
            with pytest.raises(EplValidationError, match=words):
                runtime.deploy(f"create schema A(id string); {text}")


@pytest.mark.parametrize("wrong", ["Keep", "", ("a", 5)])
def test_a_setting_that_means_nothing_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="annotations"):
        Settings(annotations=wrong)  # type: ignore[arg-type]


def test_traces_expect_espers_refusal() -> None:
    trace = {"name": "n", "listen": "all", "steps": [{"op": "deploy", "epl": TEXT}, {"op": "compile_error", "epl": TEXT, "message": ""}]}
    steps = replay_trace(trace)["steps"]
    assert "annotation class by name 'RSAAlert'" in steps[0]["exception"]
    assert steps[1]["refused"] is True
