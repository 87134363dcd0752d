"""The manuals' examples again, their rows coming as events: what a statement emits is what the table gives."""

from __future__ import annotations

import pytest

from tests.dialects import over_streams, test_flink, test_ydb
from tests.dialects.test_flink import *  # noqa: F403
from tests.dialects.test_ydb import *  # noqa: F403

del test_refusals_have_flinks_words  # noqa: F821 - over streams Flink has other words for some: test_streams


@pytest.fixture(autouse=True, params=[0, 1, 3], ids=["", "restarted", "restarted now and then"])
def _over_streams(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the tests of tables run statements. With ``restarts`` the runtime is restored from a snapshot after so many events."""
    restarts = request.param
    monkeypatch.setattr(test_flink, "run", lambda clause, table, dialect="flink": over_streams.run_stream(
        clause, table, dialect, restarts=restarts))
    monkeypatch.setattr(test_ydb, "run", lambda clause, table: over_streams.run_stream(clause, table, "ydb", restarts=restarts))
