"""``import`` in EPL brings in Python modules and classes that the settings name, and no others."""
from __future__ import annotations

from pathlib import Path

import pytest

from epl.errors import EplDeploymentError, EplError
from epl.settings import Settings
from runtime import Runtime

PRICING = """
VAT = 0.25

def net(gross: float) -> float:
    return gross / (1 + VAT)

class Rounding:
    @staticmethod
    def cents(value: float) -> float:
        return round(value, 2)
"""
MODULE = """
import acme_pricing;
import acme_pricing.Rounding;
@public @buseventtype create schema Sale(gross double);
@name('s0') select acme_pricing.net(gross) as net, Rounding.cents(gross) as rounded, acme_pricing.VAT as vat from Sale;
"""


@pytest.fixture
def pricing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "acme_pricing.py").write_text(PRICING)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("pricing")
def test_functions_classes_and_constants() -> None:
    runtime = Runtime(settings=Settings(python_imports=("acme_pricing",)))
    rows: list[object] = []
    runtime.deploy(MODULE, listeners={"s0": lambda new, *_: rows.extend(new)})
    runtime.send("Sale", {"gross": 12.504})
    assert rows == [{"net": 12.504 / 1.25, "rounded": 12.5, "vat": 0.25}]
    with pytest.raises(EplDeploymentError, match="python_imports that are not given: acme_pricing"):
        Runtime.restore(runtime.snapshot())
    again = Runtime.restore(runtime.snapshot(), python_imports=("acme_pricing",))
    again.statement("s0").add_listener(lambda new, *_: rows.extend(new))
    again.send("Sale", {"gross": 1.25})
    assert rows[1:] == [{"net": 1.0, "rounded": 1.25, "vat": 0.25}]


@pytest.mark.usefixtures("pricing")
def test_text_alone_imports_nothing() -> None:
    with pytest.raises(EplError, match="acme_pricing"):
        Runtime().deploy(MODULE)


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(EplError, match="Could not load class by name 'acme_nothing', please check imports"):
        Runtime(settings=Settings(python_imports=("acme_nothing",))).deploy("import acme_nothing; create schema A(x int)")
