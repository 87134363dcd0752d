"""Sessions of Spark Connect, serverless compute among them, are refused in one line. No test here starts Spark."""

from __future__ import annotations

from typing import Any

import pytest

from epl.errors import EplUnsupportedError
from runtime.spark import session, start, transform

FRAME: Any = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe"})()
"""As one of Spark Connect, whose own needs more packages."""
EPL = "create schema R(x int); @name('s') select x from R"


@pytest.mark.parametrize("run", [
    lambda: transform(EPL, {"R": FRAME}, "s"), lambda: start(EPL, {"R": FRAME}), lambda: transform(EPL, statement="s")(FRAME),
])
def test_frames_of_spark_connect_are_refused(run: object) -> None:
    with pytest.raises(EplUnsupportedError) as refusal:
        run()  # type: ignore[operator]
    assert refusal.value.message == "Source 'R': Spark Connect is not supported, and serverless compute has no other sessions"
    assert "send_batch(…, frame.toArrow())" in str(refusal.value.hint)


def test_session_of_spark_connect_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.spark.sessions.SparkSession.getActiveSession", lambda: None)
    monkeypatch.setenv("SPARK_REMOTE", "sc://localhost")
    with pytest.raises(EplUnsupportedError, match="SPARK_REMOTE is set"):
        session()
