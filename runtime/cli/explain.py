"""``epl explain MODULE``: the plan of each statement, or how events flow between them as a graph."""

from __future__ import annotations

import argparse

from runtime.cli import UsageError
from runtime.cli.texts import build_runtime, deploy_first, deploy_text, read_text


def run(options: argparse.Namespace) -> int:
    """Print the plans; 1 where the module is refused."""
    runtime = build_runtime(options)
    if not deploy_first(runtime, options.with_files):
        return 1
    deployment = deploy_text(runtime, options.module_file, read_text(options.module_file))
    if deployment is None:
        return 1
    try:
        explained = deployment if options.statement is None else deployment[options.statement]
    except KeyError as error:
        raise UsageError(f"--statement: {error.args[0]}") from None
    print(explained.explain(options.format).rstrip("\n"))
    return 0
