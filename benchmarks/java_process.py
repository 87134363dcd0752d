"""Java programs of this folder: found JDK, jars from Maven Central, classes in the user's cache folder, one line in and one line out.

``EPL_MAVEN_URL`` names another repository of Maven's layout, ``EPL_CACHE_DIR`` another cache folder; jars that the user's own Maven
repository holds are taken from there.
"""
from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from benchmarks.engine import NotRun

HERE = Path(__file__).resolve().parent / "java"
CENTRAL = "https://repo1.maven.org/maven2"

ESPER = {
    "com.espertech:esper-common:9.0.0": "4824cdef5d9519933c3f0025edfa243f878b8930b112de030d9c6aabb40a4bf6",
    "com.espertech:esper-compiler:9.0.0": "8a863a285229b20c01886b05fd34846eb9ff04c9005c17e05b4a8763150b833d",
    "com.espertech:esper-runtime:9.0.0": "101d6dbd88c9e3f1f23587c2acff49b24894a24d8dd697a08023d9774d90704a",
    "org.codehaus.janino:janino:3.1.12": "5699878c31e71c9a94cf472f95a2dad52ca7b0449c099276b8bd7e992a43595b",
    "org.codehaus.janino:commons-compiler:3.1.12": "17ea25d860225f4b59d0a512b4995f2e4711bdae5e15736cbcd5f6ce4dda8f7c",
    "org.antlr:antlr4-runtime:4.13.1": "54665d2838cc66458343468efc539e454fc95b46a8a04b13c6ac43fc9be63505",
    "org.slf4j:slf4j-api:1.7.36": "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    "org.slf4j:slf4j-nop:1.7.36": "c214958b07816cb4412b30c7bdbd4308ffdc6ba2a83767b8f3a9229cbd9274d6",
}
"""What Esper 9.0.0 needs: coordinates → SHA-256."""


def cache_folder() -> Path:
    """Where jars and classes are kept."""
    chosen = os.environ.get("EPL_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "epl-spark"
    folder = folder / "benchmarks"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def java_version() -> str:
    """The version of the JDK (java and javac); raises NotRun without one of 17 or newer."""
    for tool in ("java", "javac"):
        if shutil.which(_tool(tool)) is None:
            raise NotRun(f"no {tool} of a JDK 17 or newer")
    done = subprocess.run([_tool("javac"), "-version"], capture_output=True, text=True, check=False)
    match = re.search(r"(\d+)[\d._]*", done.stdout + done.stderr)
    if match is None or int(match.group(1)) < 17:
        raise NotRun(f"needs a JDK 17 or newer, this is {(done.stdout + done.stderr).strip()}")
    return match.group(0)


def _tool(name: str) -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / name) if home else name


def jars(digests: dict[str, str]) -> list[Path]:
    """Paths of the jars, checked; raises NotRun where one cannot be had."""
    return [_jar(coordinates, digest) for coordinates, digest in digests.items()]


def _jar(coordinates: str, digest: str) -> Path:
    group, name, version = coordinates.split(":")
    inside = f"{group.replace('.', '/')}/{name}/{version}/{name}-{version}.jar"
    kept = cache_folder() / f"{name}-{version}.jar"
    for path in (kept, Path.home() / ".m2" / "repository" / inside):
        if path.is_file() and _digest(path.read_bytes()) == digest:
            return path
    url = f"{os.environ.get('EPL_MAVEN_URL', CENTRAL).rstrip('/')}/{inside}"
    try:
        with urllib.request.urlopen(url, timeout=120) as answer:
            content = answer.read()
    except OSError as error:
        raise NotRun(f"{coordinates} cannot be had: {error}") from error
    if _digest(content) != digest:
        raise NotRun(f"{coordinates} is not what it was: its SHA-256 differs")
    _write(kept, content)
    return kept


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(content)
    os.replace(file.name, path)


def compiled(program: str, class_path: Sequence[Path]) -> Path:
    """The folder of the program's classes, compiled once a source, class path and JDK; raises NotRun with the compiler's words."""
    source = HERE / f"{program}.java"
    stamp = _digest(source.read_bytes() + repr([p.name for p in class_path]).encode() + java_version().encode())[:16]
    folder = cache_folder() / f"{program}-{stamp}"
    if not folder.is_dir():
        building = Path(tempfile.mkdtemp(dir=folder.parent))
        command = [_tool("javac"), "-nowarn", "-encoding", "UTF-8", "-cp", _joined(class_path), "-d", str(building), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            shutil.rmtree(building)
            raise NotRun(f"{program}.java does not compile: {done.stderr.strip()}")
        try:
            os.replace(building, folder)
        except OSError:  # another process was faster
            shutil.rmtree(building)
    return folder


def _joined(paths: Sequence[Path]) -> str:
    return os.pathsep.join(str(p) for p in paths)


class JavaProcess:
    """A running program; ``ask`` sends words and gives the answer's. Its standard error goes where ours goes."""

    def __init__(self, program: str, class_path: Sequence[Path], options: Sequence[str]) -> None:
        classes = compiled(program, class_path)
        command = [_tool("java"), *options, "-cp", _joined([classes, *class_path]), program]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")

    def ask(self, *words: object) -> list[str]:
        """Raises NotRun with the program's words where it failed."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write("\t".join(map(str, words)) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline().strip()
        state, _, rest = answer.partition(" ")
        if state != "ok":
            raise NotRun(rest or f"the program ended with exit code {process.wait()}")
        return rest.split()

    def close(self) -> None:
        assert self._process.stdin is not None
        if self._process.poll() is None:
            self._process.stdin.close()
            self._process.wait(timeout=30)


__all__ = ["ESPER", "JavaProcess", "cache_folder", "compiled", "jars", "java_version"]
