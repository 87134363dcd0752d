#!/usr/bin/env python3
"""Record the cases in tests/historical/recorded: EPL_ORACLE=…/record.py python tests/historical/record.py [FILE …]

As tests/cases/record.py, with Lookup.java deployed in front of each case as an inlined class: its methods are what the cases call, as
tests/historical/lookups.py has them for this engine.
"""
from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.cases.record import layout  # noqa: E402 - found by the path above


def main(arguments: list[str]) -> int:
    files = [pathlib.Path(a).resolve() for a in arguments] or sorted((HERE / "recorded").glob("*.json"))
    java = {"op": "deploy", "epl": f'create inlined_class """\n{(HERE / "Lookup.java").read_text(encoding="utf-8")}"""'}
    with tempfile.TemporaryDirectory() as folder:
        for source in files:
            cases = json.loads(source.read_text(encoding="utf-8"))
            copy = pathlib.Path(folder) / source.name
            copy.write_text(json.dumps([{**case, "steps": [java, *case["steps"]]} for case in cases]), encoding="utf-8")
            subprocess.run([os.environ["EPL_ORACLE"], str(copy)], check=True)
            recorded = json.loads(copy.read_text(encoding="utf-8"))
            assert all("message" not in case["steps"][0] for case in recorded), recorded[0]["steps"][0]
            source.write_text(layout([{**case, "steps": case["steps"][1:]} for case in recorded]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
