"""Where a package is missing, the error is an ImportError, as ``try: … except ImportError`` of other programs expects, and an EplError."""
from __future__ import annotations

import subprocess
import sys

import pytest

from runtime import EplError, EplRuntimeError, EplUnsupportedError
from runtime.extras import MissingPackage, UnsupportedWithout

RECORDING = (
    "from runtime import Runtime\n"
    "rt = Runtime()\n"
    "rt.deploy(\"create schema T(a int); @name('s') select * from T#length(2)\")\n"
    "with rt.record('s') as recording:\n"
    "    rt.send('T', {'a': 1})\n"
)
USES = {
    "pyspark": ("import runtime.spark", "pyspark"),
    "deltalake": ("from runtime.spark import DeltaSink; DeltaSink('x')", "deltalake"),
    "confluent_kafka": ("from runtime.connectors import KafkaSource\nKafkaSource('h:1', 't').open(None)", "confluent-kafka"),
    "fsspec": ("from runtime.connectors.locations import file_system; file_system('memory://a')", "fsspec"),
    "anywidget": ("from runtime.live.view import build_widget; build_widget('a', [])", "anywidget"),
    "fast_sugiyama": (
        "from runtime import Runtime\nfrom runtime.explain.svg import svg\n"
        "svg(Runtime().deploy('create schema T(a int); select * from T')[1].graph())", "fast-sugiyama",
    ),
    "matplotlib": (RECORDING + "recording.plot()", "matplotlib"),
    "altair": (RECORDING + "recording.chart()", "altair"),
}  # fmt: skip


@pytest.mark.parametrize("package", USES)
def test_a_missing_package_is_an_import_error_and_an_error_of_ours(package: str) -> None:
    work, named = USES[package]
    program = (
        f"import sys\nsys.modules[{package!r}] = None\nfrom epl.errors import EplError\n"
        f"try:\n" + "".join(f"    {line}\n" for line in work.splitlines()) + "except ImportError as error:\n"
        "    print(isinstance(error, EplError), isinstance(error, ModuleNotFoundError), error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True True "), done.stdout
    assert named in done.stdout and "pip install" in done.stdout


def test_the_errors_have_message_and_hint() -> None:
    for kind, base in ((MissingPackage, EplRuntimeError), (UnsupportedWithout, EplUnsupportedError)):
        with pytest.raises(ImportError) as caught:
            raise kind("x needs y", hint="pip install y")
        error = caught.value
        assert isinstance(error, EplError) and isinstance(error, base)
        assert (error.message, error.hint, error.code) == ("x needs y", "pip install y", base.code)
