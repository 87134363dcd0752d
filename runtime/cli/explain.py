"""``epl explain MODULE``: the plan of each statement."""

from __future__ import annotations

import argparse

from epl.errors import EplError
from runtime.cli.texts import deploy_first, made_runtime, print_error, read_text


def run(options: argparse.Namespace) -> int:
    """Print the plans; 1 where the module is refused."""
    runtime = made_runtime(options)
    if not deploy_first(runtime, options.with_files):
        return 1
    text = read_text(options.module_file)
    try:
        deployment = runtime.deploy(text)
    except EplError as error:
        print_error(options.module_file, text, error)
        return 1
    print("\n\n".join(statement.explain() for statement in deployment))
    return 0
