"""``epl explain MODULE``: the plan of each statement."""

from __future__ import annotations

import argparse

from runtime.cli.texts import deploy_first, deployed, made_runtime, read_text


def run(options: argparse.Namespace) -> int:
    """Print the plans; 1 where the module is refused."""
    runtime = made_runtime(options)
    if not deploy_first(runtime, options.with_files):
        return 1
    deployment = deployed(runtime, options.module_file, read_text(options.module_file))
    if deployment is None:
        return 1
    print("\n\n".join(statement.explain() for statement in deployment))
    return 0
