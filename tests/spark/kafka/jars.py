"""The jars of Spark's Kafka connector and of a broker, as Maven resolves pom.xml: by the user's own settings, into their repository."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import attrs

POM = Path(__file__).resolve().parent / "pom.xml"
CONNECTOR = ("spark-sql-kafka", "spark-token-provider-kafka", "commons-pool2-", "kafka-clients-")
"""Jars that a Spark session needs beside its own."""
PATIENCE = 400
"""Seconds for a first resolution, which fetches some 60 MB; a later one takes about three."""


class NotToBeHad(Exception):
    """Why there are no jars."""


@attrs.frozen
class Jars:
    """``broker``: all of a broker's class path; ``connector``: what ``spark.jars`` names."""

    broker: tuple[Path, ...]
    connector: tuple[Path, ...]


def connects_to() -> tuple[int, int]:
    """The Spark that the connector is of: ``(4, 2)`` for 4.2.0. It serves later ones of that major release too, not earlier ones."""
    found = re.search(r"spark-sql-kafka-0-10_2.13</artifactId>\s*<version>(\d+)\.(\d+)", POM.read_text())
    assert found is not None
    return int(found[1]), int(found[2])


def jars() -> Jars:
    """Raises NotToBeHad without Maven, or with Maven's words where it cannot resolve them."""
    maven = shutil.which("mvn")
    if maven is None:
        raise NotToBeHad("the Kafka tests take their jars through Maven, and there is no mvn")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "class-path"
        command = [maven, "-B", "-q", "-f", str(POM), "dependency:build-classpath"]
        command += [f"-Dmdep.outputFile={written}", "-Dmdep.pathSeparator=|"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            raise NotToBeHad(f"Maven has not resolved Kafka's jars after {PATIENCE} s") from error
        if done.returncode:
            reason = next((line for line in done.stdout.splitlines() if "[ERROR]" in line), done.stderr)
            raise NotToBeHad(f"Maven cannot resolve Kafka's jars: {reason.strip()[:400]}")
        found = tuple(Path(path) for path in written.read_text().strip().split("|"))
    return Jars(found, tuple(path for path in found if path.name.startswith(CONNECTOR)))


__all__ = ["Jars", "NotToBeHad", "connects_to", "jars"]
