"""``make bench``, or ``python -m benchmarks``: measures engines beside each other and prints what was found as tables."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from benchmarks import report
from benchmarks.compiling import first_and_warm
from benchmarks.data import Data
from benchmarks.engine import Engine, NotRun
from benchmarks.engines import ENGINES, ON_REQUEST
from benchmarks.engines.esper import Esper
from benchmarks.machine import description, load
from benchmarks.memory import STATEMENTS, held
from benchmarks.plot import picture
from benchmarks.resident import grown
from benchmarks.scaling import curves, prepared
from benchmarks.shapes import measured
from benchmarks.snapshots import stored
from benchmarks.throughput import measure
from benchmarks.workloads import WORKLOADS

PARTS = ("throughput", "scaling", "memory", "compiling", "shapes")
ON_DEMAND = ("resident", "snapshots")
"""Parts that are run where they are named only: they take other numbers of events."""
ALL_PARTS = 100_000
GENERAL = ("esper", "row", "batch")
"""The engines whose growth and memory are measured: those that take any statement."""


@attrs.frozen
class Bench:
    """What was asked for, and the engines that are there."""

    engines: dict[str, Engine]
    workloads: tuple[str, ...]
    events: int
    warm_up: int
    batch_rows: int
    plot: Path
    failed: list[str] = attrs.field(factory=list)

    def throughput(self) -> str:
        results = []
        with prepared(self.engines, Data(self.warm_up + 3 * self.events), self.batch_rows):
            for name in self.workloads:
                results += measure(WORKLOADS[name], self.engines, self.events, self.warm_up, report_progress)
        self.failed.extend([f"{r.workload.name} {r.engine}" for r in results if r.failed])
        head = f"{self.events:,} events per run, after {self.warm_up:,} to warm up; {self.batch_rows:,} rows per batch."
        return f"{head}\n\n{report.throughput(results)}"

    def scaling(self) -> str:
        grown = list(curves(self._general(), self.events, report_progress))
        self.plot.parent.mkdir(parents=True, exist_ok=True)
        self.plot.write_text(picture(grown), encoding="utf-8")
        return report.scaling(grown)

    def memory(self) -> str:
        events = min(self.events, 1_000_000)
        esper = self.engines.get("esper")
        assert esper is None or isinstance(esper, Esper)
        sizes = []
        for statement in STATEMENTS:
            for name in self._general():
                report_progress(f"memory {name} {statement}")
                sizes.append(held(name, statement, events, esper))
        self.failed.extend(f"memory of {h.statement}, {h.engine}" for h in sizes if h.bytes_per_event is None)
        return f"{events:,} events.\n\n{report.memory(sizes)}"

    def resident(self) -> str:
        """In rows a tenth of the events: these take as long."""
        sizes = []
        for name in self.workloads:
            for engine in (e for e in ("batch", "row") if e in self.engines):
                report_progress(f"resident {engine} {name}")
                sizes.append(grown(engine, name, self.events * 10 if engine == "batch" else self.events))
        self.failed.extend(f"resident {g.workload}, {g.engine}" for g in sizes if not g.megabytes)
        return report.resident(sizes)

    def snapshots(self) -> str:
        """After a hundredth and a tenth of the events."""
        sizes = []
        for name in self.workloads:
            report_progress(f"snapshots {name}")
            sizes.append(stored(name, self.events // 100))
        return report.snapshots(sizes)

    def compiling(self) -> str:
        report_progress("compiling")
        return report.compiling(first_and_warm())

    def shapes(self) -> str:
        report_progress("shapes")
        return report.shapes(measured())

    def _general(self) -> dict[str, Engine]:
        return {name: engine for name, engine in self.engines.items() if name in GENERAL}


def report_progress(text: str) -> None:
    """Progress, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def engines_of(names: Sequence[str], make: Callable[[str], Engine]) -> dict[str, Engine]:
    """The engines that are to be had; one line for each that is not."""
    engines: dict[str, Engine] = {}
    for name in names:
        engine = make(name)
        try:
            with prepared({name: engine}, Data(1000)):
                engines[name] = engine
        except NotRun as reason:
            print(f"{name} is skipped: {reason}")
    return engines


def names_of(text: str, known: Sequence[str], what: str) -> tuple[str, ...]:
    """Comma-separated names, all of which are known."""
    names = tuple(n for n in text.replace(" ", ",").split(",") if n)
    for name in names:
        if name not in known:
            raise SystemExit(f"no {what} {name!r}; there are {', '.join(known)}")
    return names


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--engines", default="", help=f"of {', '.join(ENGINES)}; default all that are found"
                        + (f" but {', '.join(sorted(ON_REQUEST))}" if ON_REQUEST else ""))
    parser.add_argument("--workloads", default="", help=f"of {', '.join(WORKLOADS)}; default all")
    parser.add_argument("--parts", default="", help=f"of {', '.join(PARTS)} (the default), {', '.join(ON_DEMAND)}; of fewer than "
                        f"{ALL_PARTS:,} events, or of named workloads, only throughput")
    parser.add_argument("--events", type=int, default=1_000_000, help="events per run (default 1,000,000)")
    parser.add_argument("--warm-up", type=int, help="events before the runs (default: as many as a run, 1,000,000 at most)")
    parser.add_argument("--batch-rows", type=int, default=100_000)
    parser.add_argument("--plot", type=Path, help="where the picture of the growth goes (default build/bench/scaling.svg)")
    parser.add_argument("--report", type=Path, help="a document whose sections take the results, as docs/performance.md")
    options = parser.parse_args(arguments)
    workloads = names_of(options.workloads, list(WORKLOADS), "workload")
    parts = names_of(options.parts, (*PARTS, *ON_DEMAND), "part") or (("throughput",) if workloads or options.events < ALL_PARTS else PARTS)
    engines = engines_of(
        names_of(options.engines, list(ENGINES), "engine") or [n for n in ENGINES if n not in ON_REQUEST], lambda name: ENGINES[name](),
    )
    if not engines:
        return 1
    warm_up = options.warm_up if options.warm_up is not None else min(options.events, 1_000_000)
    default_plot = options.report.parent / "scaling.svg" if options.report else Path("build/bench/scaling.svg")
    bench = Bench(engines, workloads or tuple(WORKLOADS), options.events, warm_up, options.batch_rows, options.plot or default_plot)
    try:
        run(bench, parts, options.report)
    finally:
        for engine in engines.values():
            engine.close()
    return 1 if bench.failed else 0


def run(bench: Bench, parts: Sequence[str], document: Path | None) -> None:
    """The parts one after the other, each printed as soon as it is there."""
    machine = description(engine.version for engine in bench.engines.values())
    print(machine)
    for part in parts:
        before = load()
        text = getattr(bench, part)()
        report_progress("")
        text = f"Load {before} before, {load()} after. {text}"
        print(f"\n## {part}\n\n{text}", flush=True)
        if document is not None:
            whole = report.replaced(document.read_text(encoding="utf-8"), part, f"{machine}. {text}")
            document.write_text(whole, encoding="utf-8")
    if "scaling" in parts:
        print(f"\nThe growth is drawn in {bench.plot}.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
