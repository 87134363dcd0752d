"""Esper 9.0.0 from Maven Central: object-array events made beforehand, one sending thread, time advanced before each event if it moves."""
from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.engine import Measured, Prepared
from benchmarks.java_process import ESPER, JavaProcess, jars, java_version
from benchmarks.workloads import Workload

OPTIONS = ("-Xms2g", "-Xmx4g", "-Xmn1500m", "-Xss8m", "-XX:+UseSerialGC", "-Duser.timezone=UTC")
"""One collector thread, and a young generation that holds a segment's garbage."""


class EsperSession:
    def __init__(self, process: JavaProcess, workload: Workload) -> None:
        self.process = process
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder) / "module.epl"
            module.write_text(workload.module("objectarray"), encoding="utf-8")
            columns = [word for column in workload.columns for word in (column.name, column.mode)]
            moves = "true" if workload.moves else "false"
            self.compile_ms, self.deploy_ms = map(float, process.ask("open", module, workload.layout, moves, *columns))
        self.note = ""

    def run(self, first: int, last: int) -> Measured:
        cpu, process, wall, rows, *sums = self.process.ask("run", first, last)
        values = tuple(float(s) if "." in s else int(s) for s in sums)
        return Measured(last - first, int(cpu), int(process), int(wall), int(rows), values)

    def heap(self) -> int:
        """Bytes of the Java heap in use after garbage collection."""
        return int(self.process.ask("heap")[0])

    def close(self) -> None:
        self.process.ask("close")


class Esper:
    name = "esper"
    version = ""
    process: JavaProcess | None = None

    def prepare(self, prepared: Prepared) -> None:
        self.version = f"Esper 9.0.0, Java {java_version()}"
        if self.process is None:
            self.process = JavaProcess("EsperDriver", jars(ESPER), OPTIONS)
        self.process.ask("data", prepared.folder)

    def open(self, workload: Workload) -> EsperSession:
        assert self.process is not None
        return EsperSession(self.process, workload)

    def close(self) -> None:
        if self.process is not None:
            self.process.close()


__all__ = ["Esper", "EsperSession"]
