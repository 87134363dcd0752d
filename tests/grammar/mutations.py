"""Makes small mistakes in EPL texts and records what Esper says about each: EPL or not.

    python tests/grammar/mutations.py --oracle COMMAND [--count 2000] [--seed 1] [--out tests/grammar/mutations.json.gz] [FOLDER]

FOLDER holds ``*.epl`` files, one statement to a paragraph (paragraphs are parted by blank lines). COMMAND is called with ``--out
RESULTS SCENARIOS``, two
JSON files: lists of ``{"name", "epl", "steps": []}``; in the results an ``error`` holds Esper's refusal. The file written is a list of
``[text, accepted]``.
"""

from __future__ import annotations

import argparse
import gzip
import json
import pathlib
import random
import subprocess
import tempfile

from epl.grammar.lexis import Tokens

HERE = pathlib.Path(__file__).parent
SYNTAX = ("Incorrect syntax", "Unexpected end-of-input", "Failed to parse: Unexpected exception recognizing")
"""How the refusals begin that mean: this is not EPL. Whatever else is refused has been read first."""


def paragraphs(folder: pathlib.Path) -> list[str]:
    """The statements of all files of the folder, in order."""
    found: list[str] = []
    for path in sorted(folder.glob("*.epl")):
        found.extend(block.strip() for block in path.read_text().split("\n\n") if block.strip())
    return found


def mutate(text: str, rng: random.Random) -> str:
    """The text with one token deleted, doubled, or swapped with its right neighbour."""
    tokens = Tokens(text).all[:-1]
    kind = rng.choice(("delete", "double", "swap"))
    index = rng.randrange(len(tokens) - (1 if kind == "swap" and len(tokens) > 1 else 0))
    token = tokens[index]
    if kind == "delete":
        return text[: token.start] + " " + text[token.end :]
    if kind == "double":
        return text[: token.end] + " " + token.text + text[token.end :]
    if index + 1 == len(tokens):
        return text
    after = tokens[index + 1]
    return f"{text[: token.start]}{after.text} {text[token.end : after.start]} {token.text}{text[after.end :]}"


def mutations(texts: list[str], count: int, seed: int) -> list[str]:
    """So many different mutations, taken from the texts in turn."""
    rng = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        text = texts[rng.randrange(len(texts))]
        changed = mutate(text, rng)
        if changed != text:
            found[changed] = None
    return list(found)


def ask(oracle: str, texts: list[str]) -> list[bool]:
    """Whether Esper reads each text as EPL, whatever it thinks of its meaning."""
    with tempfile.TemporaryDirectory() as folder:
        scenarios, results = pathlib.Path(folder, "scenarios.json"), pathlib.Path(folder, "results.json")
        scenarios.write_text(json.dumps([{"name": str(index), "epl": text, "steps": []} for index, text in enumerate(texts)]))
        subprocess.run([*oracle.split(), "--out", str(results), str(scenarios)], check=True, stdout=subprocess.DEVNULL)
        answers = {answer["name"]: answer.get("error") or "" for answer in json.loads(results.read_text())}
    return [not answers[str(index)].startswith(SYNTAX) for index in range(len(texts))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--oracle", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "mutations.json.gz")
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=HERE / "texts")
    options = parser.parse_args()
    texts = mutations(paragraphs(options.folder), options.count, options.seed)
    verdicts = ask(options.oracle, texts)
    with gzip.GzipFile(options.out, "wb", mtime=0) as file:
        file.write(json.dumps([list(pair) for pair in zip(texts, verdicts, strict=True)], indent=0).encode())
    print(f"{len(texts)} mutations, {sum(verdicts)} accepted, written to {options.out}")


if __name__ == "__main__":
    main()
