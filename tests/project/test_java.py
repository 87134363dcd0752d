"""``.ci/java-home``: the Java that make demo and make test give to Spark, downloaded where none is installed."""
from __future__ import annotations

import http.server
import io
import json
import os
import pathlib
import platform
import shutil
import ssl
import subprocess
import sys
import tarfile
import threading
from collections.abc import Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
JAVA = '#!/bin/sh\necho \'openjdk version "17.0.9" 2023-10-17\' >&2\n'
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine())

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or ARCHITECTURE is None or not shutil.which("openssl"), reason="serves an index of JDKs for Linux by TLS"
)


@pytest.fixture
def without_java(tmp_path: pathlib.Path) -> dict[str, str]:
    """Variables of an environment whose path has the commands that the script calls, and no java."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name in ("bash", "cat", "dirname", "head", "readlink", "sed", "sh"):
        found = shutil.which(name)
        assert found
        (commands / name).symlink_to(found)
    return {"PATH": str(commands), "HOME": str(tmp_path), "CJDK_CACHE_DIR": str(tmp_path / "cache")}


@pytest.fixture
def index_of_jdks(tmp_path: pathlib.Path) -> Iterator[dict[str, str]]:
    """A server by TLS that has an index with one JRE, whose java says that it is 17; the variables with which cjdk finds it."""
    served = tmp_path / "served"
    served.mkdir()
    with tarfile.open(served / "jre.tgz", "w:gz") as archive:
        member = tarfile.TarInfo("jre/bin/java")
        member.mode, member.size = 0o755, len(JAVA)
        archive.addfile(member, io.BytesIO(JAVA.encode()))
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext",
         "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    class Files(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments, directory=str(served))  # type: ignore[arg-type]

        def log_message(self, format: str, *arguments: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("localhost", 0), Files) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        at = f"https://localhost:{server.server_port}"
        index = {"linux": {ARCHITECTURE: {"jdk@zulu-jre": {"17.0.9": f"tgz+{at}/jre.tgz"}}}}
        (served / "index.json").write_text(json.dumps(index))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield {"CJDK_INDEX_URL": f"{at}/index.json", "REQUESTS_CA_BUNDLE": str(certificate)}
        server.shutdown()


def java_home(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([ROOT / ".ci/java-home", sys.executable], env=environment, capture_output=True, text=True, check=False)


def test_without_java_one_is_downloaded_and_named_in_one_line(without_java: dict[str, str], index_of_jdks: dict[str, str]) -> None:
    done = java_home({**without_java, **index_of_jdks})
    assert done.returncode == 0, done.stderr
    home = done.stdout.strip()
    assert pathlib.Path(home).is_relative_to(without_java["CJDK_CACHE_DIR"]) and (pathlib.Path(home) / "bin/java").is_file()
    assert done.stderr == f"Spark needs Java 17: using {home}, downloaded for you (cjdk's cache; delete it when you like)\n"


def test_where_none_can_be_downloaded_it_says_how_to_get_one(without_java: dict[str, str]) -> None:
    done = java_home({**without_java, "CJDK_INDEX_URL": "https://localhost:1/index.json"})
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("Spark needs Java 17 or newer (JAVA_HOME is not set; Java found: none).\n")
    assert done.stderr.endswith("Everything but Spark runs without Java.\nNone could be downloaded either.\n")


def test_an_installed_java_is_used() -> None:
    if subprocess.run([ROOT / ".ci/require-java"], capture_output=True, check=False).returncode:
        pytest.skip("no Java is installed")
    done = java_home(dict(os.environ))
    assert done.returncode == 0 and not done.stderr
    assert (pathlib.Path(done.stdout.strip()) / "bin/java").is_file()
