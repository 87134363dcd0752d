"""Deploy the module file shop.epl and send it the events of the EPL Online script shop.txt: ``python examples/module_file.py``."""

from __future__ import annotations

from pathlib import Path

from runtime import Rows, Runtime, Statement
from runtime.replay.epl_online import At, Send, parse_script

HERE = Path(__file__).resolve().parent


def main() -> list[tuple[str, dict[str, object]]]:
    rows: list[tuple[str, dict[str, object]]] = []

    def collect(new: Rows, old: Rows, statement: Statement, runtime: Runtime) -> None:
        rows.extend((statement.name, row.to_dict()) for row in new)

    with Runtime() as runtime:
        runtime.deploy((HERE / "shop.epl").read_text(encoding="utf-8"), listeners={"LargeSale": collect, "Rising": collect})
        for _, instruction in parse_script((HERE / "shop.txt").read_text(encoding="utf-8")):
            if isinstance(instruction, Send):
                runtime.send(instruction.type, instruction.values)
            elif isinstance(instruction, At):
                runtime.advance_time_span(instruction.ms)
            else:
                runtime.advance_time_span(runtime.now + instruction.ms)
    for name, row in rows:
        print(f"{name}: {row}")
    return rows


if __name__ == "__main__":
    main()
