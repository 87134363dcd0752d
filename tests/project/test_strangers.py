"""Projects that have nothing to do with EPL, in an environment with epl-spark: their pytest and Pygments work as without it."""

from __future__ import annotations

import configparser
import json
import pathlib
import shutil

import pytest

import epl_spark_pytest
from runtime.tools.rule_tests import files
from tests.project.conftest import MODULES, ROOT, Run

pytestmark = pytest.mark.xdist_group("wheel")
RULES = ROOT / "examples" / "rules"
OWN = {"runtime.py": "def helper():\n    return 1\n", "windows/__init__.py": "PANES = 2\n", "epl/__init__.py": "POINTS = 3\n"}
"""A project's own modules with the names of the engine's packages, each with one name."""
NAMES = {"runtime.py": "helper", "windows/__init__.py": "PANES", "epl/__init__.py": "POINTS"}
PLAIN = ("-c", "import sys; del sys.path[0]; import pytest; sys.exit(pytest.main(sys.argv[1:]))")
"""pytest as its command starts it: the folder is not on ``sys.path``."""
MODULE = ("-m", "pytest")
QUIET = ("-q", "-p", "no:cacheprovider", "-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:anyio")
NOT_OURS = {
    "settings.test.json": '{"a": 1}', "docker-compose.test.yaml": "services:\n  web: {image: nginx}\n", "notes.test.txt": "Reading = {a=1}",
    "broken.test.json": '{"cases": [', "list.test.json": "[1, 2]", "web.test.json": '{"module": "index.js", "cases": 1}',
    "bytes.test.yaml": b"\xff\xfe", "deep.test.json": "[" * 100_000, "index.js": "", "other.test.yml": "cases:\n- module: index.js\n",
    "gone.test.json": '{"module": "gone.epl", "cases": []}', "tags.test.yaml": "module: index.js\nservices: !x {}\n",
}  # fmt: skip
"""Files that only look like cases."""


def written(folder: pathlib.Path, texts: dict[str, str | bytes]) -> None:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("start", [PLAIN, MODULE], ids=["pytest", "python -m pytest"])
def test_own_modules_and_files_are_left_alone(run: Run, tmp_path: pathlib.Path, start: tuple[str, ...]) -> None:
    uses = "".join(f"    from {file.split('/')[0].removesuffix('.py')} import {NAMES[file]}\n" for file in OWN)
    loaded = "    import sys\n    assert not [name for name in sys.modules if name.startswith(('runtime.', 'windows.', 'epl.'))]\n"
    written(tmp_path, {**NOT_OURS, **OWN, "test_own.py": f"def test_own():\n{uses}{loaded}"})
    done = run(tmp_path, "python", *start, *QUIET)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("file", OWN)
@pytest.mark.parametrize("start", [PLAIN, MODULE], ids=["pytest", "python -m pytest"])
def test_cases_in_a_project_with_such_a_module_name_the_clash(
    run: Run, tmp_path: pathlib.Path, start: tuple[str, ...], file: str
) -> None:
    shutil.copytree(RULES, tmp_path / "rules")
    package = file.split("/")[0].removesuffix(".py")
    written(tmp_path, {file: OWN[file], "test_own.py": f"from {package} import {NAMES[file]}\ndef test_own(): pass\n"})
    done = run(tmp_path, "python", *start, *QUIET)
    assert "3 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert f"epl-spark's package '{package}' cannot be imported: {tmp_path / file} hides it: rename that" in done.stdout


def test_cases_run_and_the_engine_is_not_rewritten(run: Run, tmp_path: pathlib.Path) -> None:
    shutil.copytree(RULES, tmp_path / "rules")
    written(tmp_path, {"test_own.py": """\
import sys
import runtime

def test_own():
    ours = [module for name, module in sys.modules.items() if name.split('.')[0] in ('epl', 'windows', 'runtime')]
    loaders = {type(module.__loader__).__name__ for module in ours}
    assert loaders == {'SourceFileLoader'}
"""})
    done = run(tmp_path, "python", *MODULE, *QUIET)
    assert done.returncode == 0 and "4 passed" in done.stdout, done.stdout + done.stderr


def test_names_of_cases_are_read_without_the_engine(run: Run, tmp_path: pathlib.Path) -> None:
    shutil.copytree(RULES, tmp_path / "rules")
    written(tmp_path, {"runtime.py": "raise SystemExit('imported')", "epl.py": "1 / 0", "windows.py": "1 / 0"})
    done = run(tmp_path, "python", *MODULE, *QUIET, "--collect-only")
    assert done.returncode == 0 and "rules/jumps.test.yaml::a jump up" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["epl", "x", "python"])
def test_pygments_in_a_project_with_such_modules(run: Run, tmp_path: pathlib.Path, name: str) -> None:
    written(tmp_path, {"runtime.py": "1 / 0", "epl/__init__.py": "1 / 0", "windows/__init__.py": "1 / 0", "look.py": f"""\
from pygments.lexers import get_all_lexers, get_lexer_by_name, guess_lexer
from pygments.util import ClassNotFound
assert 'EPL' in {{each[0] for each in get_all_lexers()}}
guess_lexer('select a from b')
try:
    lexer = get_lexer_by_name({name!r})
except ClassNotFound:
    print('not found')
else:
    print(lexer.name, [text for _, text in lexer.get_tokens('select 1')])
"""})
    done = run(tmp_path, "python", "look.py")
    assert done.stderr == ""
    assert done.stdout.split()[0] == {"epl": "EPL", "x": "not", "python": "Python"}[name]


# ------------------------------------------------------------------ what the plugin claims


def test_suffixes_and_limits_are_those_of_the_reader() -> None:
    assert (epl_spark_pytest.SUFFIXES, epl_spark_pytest.LARGEST) == (files.SUFFIXES, files.LARGEST)


@pytest.mark.parametrize("name", [name for name in NOT_OURS if ".test." in name])
def test_what_only_looks_like_cases_is_not_claimed(tmp_path: pathlib.Path, name: str) -> None:
    written(tmp_path, NOT_OURS)
    assert not epl_spark_pytest.has_module(tmp_path / name)
    (tmp_path / f"{epl_spark_pytest.stem_of(tmp_path / name)}.epl").touch()
    assert epl_spark_pytest.has_module(tmp_path / name)


@pytest.mark.parametrize("head", [
    "module: rule.epl", "module: 'rule.epl'", "module: [types.epl, rule.epl]", "module:\n  - types.epl\n  - rule.epl",
    "'module': rule.epl  # the only one", "module: [\n  rule.epl]", '"module": "rule.epl"',
])
def test_modules_that_yaml_names(tmp_path: pathlib.Path, head: str) -> None:
    written(tmp_path, {"all.test.yaml": f"{head}\ncases:\n  - name: a\n    steps: []\n"})
    assert not epl_spark_pytest.has_module(tmp_path / "all.test.yaml")
    (tmp_path / "rule.epl").touch()
    assert epl_spark_pytest.has_module(tmp_path / "all.test.yaml")
    assert epl_spark_pytest.case_names(tmp_path / "all.test.yaml") == ["a"]


@pytest.mark.parametrize("text", [
    '{"module": "rule.epl", "cases": []}', '{"cases": [], "module": ["types.epl", "rule.epl"]}',
    '{\n  "module": "rule.epl",\n  "cases": [{]\n}',
])
def test_modules_that_json_names(tmp_path: pathlib.Path, text: str) -> None:
    written(tmp_path, {"all.test.json": text})
    assert not epl_spark_pytest.has_module(tmp_path / "all.test.json")
    (tmp_path / "rule.epl").touch()
    assert epl_spark_pytest.has_module(tmp_path / "all.test.json")


BAD = [
    '[{"name": "a"}, {"name": "a"}]', '[{"name": 1}]', "{", '{"case": []}', '[{"name": "a", "steps": [{"op": "sent"}]}]', "[" * 100_000,
]


def test_cases_that_cannot_be_read_fail_as_a_test(run: Run, tmp_path: pathlib.Path) -> None:
    """The reader of ``epl test`` says why; a folder that the options name holds cases, whatever is beside them."""
    for number, text in enumerate(BAD):
        written(tmp_path, {f"bad{number}.test.json": text, f"bad{number}.epl": (RULES / "jumps.epl").read_text()})
    written(tmp_path, {"a/x.test.json": json.dumps([{"name": "n", "steps": []}]), "b/x.test.json": "[]"})
    written(tmp_path, {"pytest.ini": "[pytest]\nepl_cases = a\n"})
    done = run(tmp_path, "python", *MODULE, *QUIET)
    assert f"{len(BAD) + 1} failed" in done.stdout and "passed" not in done.stdout, done.stdout + done.stderr
    assert f"cannot read the module {tmp_path / 'a' / 'x.epl'}" in done.stdout
    for number in range(len(BAD)):
        with pytest.raises(files.BadCaseFile) as error:
            files.read_cases(tmp_path / f"bad{number}.test.json")
        assert str(error.value) in done.stdout


def test_entry_points_name_the_modules_of_the_wheel() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    points = config["options.entry_points"]
    assert points["pytest11"].strip() == "epl_rules = epl_spark_pytest"
    assert points["pygments.lexers"].strip() == "epl = epl_spark_pygments:EplLexer"
    assert [f"{name}.py" for name in config["options"]["py_modules"].split()] == list(MODULES)
