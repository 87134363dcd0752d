"""Names and docstrings by the rules of CONTRIBUTING, by folder: what breaks them is counted, and the counts only fall.

    python tests/project/test_names.py            list what breaks a rule
    python tests/project/test_names.py --write    write the counts, where they have fallen
"""
from __future__ import annotations

import ast
import json
import pathlib
import re
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTS = pathlib.Path(__file__).with_name("names.json")
PACKAGES = ("epl", "windows", "runtime")

VERBS_IN_ED = {"embed", "exceed", "feed", "greed", "need", "proceed", "seed", "shed", "speed", "succeed"}
IRREGULAR = frozenset(pathlib.Path(__file__).with_name("irregular_participles.txt").read_text(encoding="utf-8").split())
PREPOSITIONS = {
    "after", "around", "as", "at", "before", "beneath", "beside", "between", "beyond", "by", "during", "for", "from", "in",
    "inside", "into", "of", "off", "on", "onto", "over", "since", "than", "through", "to", "under", "until", "upon", "with", "within",
    "without",
}  # fmt: skip
NO_VERBS = {
    "a", "all", "an", "and", "any", "are", "as", "at", "before", "both", "by", "each", "every", "for", "from", "how", "if", "in", "is",
    "it", "its", "no", "none", "nothing", "of", "on", "one", "only", "or", "others", "so", "such", "that", "the", "their", "there", "these",
    "they", "this", "those", "to", "true", "what", "when", "where", "whether", "which", "who", "whose", "why", "with", "without",
}  # fmt: skip
"""First words of docstrings that are no verb."""

PUBLIC = {"Job.left_out", "Runtime.event_of", "Statement", "View", "error_of"}
"""Names that docs/stability.md promises to applications (and what windows and syntax trees share): they change by deprecation only."""

RULES = {
    "participle": "a function's name begins with a participle",
    "preposition": "a function's name ends in a preposition",
    "docstring": "a function's docstring does not begin with a verb",
    "class": "a class has the name of another one",
}


def folder_of(path: pathlib.Path) -> str:
    """Return the folder that a module is counted in: the first two parts of its path."""
    parts = path.relative_to(ROOT).parent.parts
    return "/".join(parts[:2])


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Yield the functions of a module that are no properties, overrides of Python's or tests."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("__"):
            decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter"}:
                yield node


def is_participle(word: str) -> bool:
    return word in IRREGULAR or (word.islower() and len(word) > 4 and word.endswith("ed") and word not in VERBS_IN_ED)


def faults_of_function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Yield the rules that a function breaks."""
    words = node.name.strip("_").split("_")
    if is_participle(words[0]):
        yield "participle"
    if len(words) > 1 and words[-1] in PREPOSITIONS:
        yield "preposition"
    docstring = ast.get_docstring(node)
    if docstring is not None and re.split(r"\W", docstring.lstrip("`'\""), maxsplit=1)[0].lower() in NO_VERBS:
        yield "docstring"


def faults() -> Iterator[tuple[str, str, str]]:
    """Yield (folder, rule, place) of all that breaks a rule."""
    classes: dict[str, list[tuple[str, str]]] = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            folder, name = folder_of(path), path.relative_to(ROOT).as_posix()
            public = {
                method for owner in ast.walk(tree) if isinstance(owner, ast.ClassDef)
                for method in owner.body if f"{owner.name}.{getattr(method, 'name', '')}" in PUBLIC
            }
            for node in functions(tree):
                for rule in faults_of_function(node) if node not in public and node.name not in PUBLIC else ():
                    yield folder, rule, f"{name}:{node.lineno} {node.name}"
            for each in ast.walk(tree):
                if isinstance(each, ast.ClassDef) and not each.name.startswith("_") and each.name not in PUBLIC:
                    classes.setdefault(each.name, []).append((folder, f"{name}:{each.lineno} {each.name}"))
    for places in classes.values():
        for folder, place in places if len(places) > 1 else ():
            yield folder, "class", place


def counted() -> dict[str, dict[str, int]]:
    """Return how often each rule is broken, by rule and folder."""
    counts = Counter((rule, folder) for folder, rule, _ in faults())
    return {rule: {folder: count for (each, folder), count in sorted(counts.items()) if each == rule} for rule in RULES}


@pytest.mark.parametrize("rule", RULES)
def test_names_get_better(rule: str) -> None:
    """More than before: choose another name. Less: write the counts, so that they stay."""
    before, now = json.loads(COUNTS.read_text(encoding="utf-8"))[rule], counted()[rule]
    assert now == before, f"{RULES[rule]}: python tests/project/test_names.py lists them"


@pytest.mark.parametrize(("name", "rules"), [
    ("kept_rows", ["participle"]), ("rows_of", ["preposition"]), ("_chosen_by", ["participle", "preposition"]), ("feed_rows", []),
    ("read", []), ("of", []), ("need", []),
])  # fmt: skip
def test_rules_of_names(name: str, rules: list[str]) -> None:
    tree = ast.parse(f"def {name}():\n    pass")
    assert list(faults_of_function(next(functions(tree)))) == rules


@pytest.mark.parametrize(("docstring", "rules"), [
    ("Return the rows.", []), ("What it is.", ["docstring"]), ("The rows of a table.", ["docstring"]), ("``x``: Return it.", []),
])  # fmt: skip
def test_rules_of_docstrings(docstring: str, rules: list[str]) -> None:
    tree = ast.parse(f"def read():\n    '''{docstring}'''")
    assert list(faults_of_function(next(functions(tree)))) == rules


def main(arguments: list[str]) -> int:
    """List what breaks a rule, or write the counts where none has risen."""
    if arguments == ["--write"]:
        now = counted()
        before = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else now
        risen = [(rule, folder) for rule in RULES for folder, count in now[rule].items() if count > before[rule].get(folder, 0)]
        if risen and COUNTS.exists():
            print("more than before:", *map(" ".join, risen), sep="\n  ")
            return 1
        COUNTS.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return 0
    for folder, rule, place in sorted(faults()):
        print(f"{folder}  {rule}  {place}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
