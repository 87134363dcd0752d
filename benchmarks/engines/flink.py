"""Flink SQL in a local mini cluster, from the jars that ``pip install apache-flink-libraries`` (or apache-flink) brings.

Only where SQL gives the same rows; ``LAST(B.price, 1)`` stands for ``prev``.
A run is the difference of two jobs, so that starting a job is not measured; the figures are rough where a run is short.
"""
from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path

from benchmarks.engine import Measured, NotRun, Prepared
from benchmarks.java_process import ESPER, JavaProcess, jars, java_version
from benchmarks.workloads import Workload

MATCH = """SELECT ap, cp FROM Trade MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY rt
MEASURES A.price AS ap, LAST(B.price) AS bp, C.price AS cp ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+ C)
DEFINE {a}B AS B.price > COALESCE(LAST(B.price, 1), A.price), C AS C.price < LAST(B.price){c}) AS T"""
OVER = "OVER (ORDER BY rt ROWS BETWEEN 999 PRECEDING AND CURRENT ROW)"
STATEMENTS = {
    "W1": "SELECT symbol, price FROM Trade WHERE price > 990",
    "W2": "SELECT COUNT(*) AS c, SUM(volume) AS s FROM Trade",
    "W4": f"SELECT AVG(price) {OVER} AS a, MAX(price) {OVER} AS m FROM Trade",
    "W5sel": MATCH.format(a="A AS A.price < 10, ", c=" AND C.price < 5"),
    "W5all": MATCH.format(a="", c=""),
}
OPENED = ("java.util", "java.lang", "java.time", "java.net", "java.nio", "java.util.concurrent", "java.lang.reflect")
OPTIONS = ("-Xmx4g", *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED))


class FlinkSession:
    note = "CPU time is that of the whole process"

    def __init__(self, process: JavaProcess, workload: Workload) -> None:
        self.process = process
        with tempfile.TemporaryDirectory() as folder:
            statement = Path(folder) / "statement.sql"
            statement.write_text(STATEMENTS[workload.name], encoding="utf-8")
            columns = [word for column in workload.columns for word in (column.name, column.mode)]
            process.ask("open", statement, workload.layout, "false", *columns)

    def run(self, first: int, last: int) -> Measured:
        cpu, process, wall, rows, *sums = self.process.ask("run", first, last)
        values = tuple(float(s) if "." in s else int(s) for s in sums)
        return Measured(last - first, int(cpu), int(process), int(wall), int(rows), values)

    def close(self) -> None:
        self.process.ask("close")


class Flink:
    name = "flink"
    version = ""
    process: JavaProcess | None = None

    def prepare(self, prepared: Prepared) -> None:
        package = importlib.util.find_spec("pyflink")
        if package is None or not package.submodule_search_locations:
            raise NotRun("pip install apache-flink-libraries")
        if self.process is None:
            folder = Path(next(iter(package.submodule_search_locations))) / "lib"
            own = [path for path in sorted(folder.glob("*.jar")) if "log4j" not in path.name]
            java = java_version()
            self.version = f"Flink {next(p.stem for p in own if p.name.startswith('flink-dist')).rpartition('-')[2]}, Java {java}"
            silent = jars({name: digest for name, digest in ESPER.items() if "slf4j-nop" in name})
            self.process = JavaProcess("FlinkDriver", [*own, *silent], OPTIONS)
        self.process.ask("data", prepared.folder)

    def open(self, workload: Workload) -> FlinkSession:
        if workload.name not in STATEMENTS:
            raise NotRun("no SQL of Flink gives these rows")
        assert self.process is not None
        return FlinkSession(self.process, workload)

    def close(self) -> None:
        if self.process is not None:
            self.process.close()


__all__ = ["Flink"]
