"""A broker of one node on this machine (KRaft: its own controller), on free ports of the loopback, with its data in a folder."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

from tests.spark.kafka.jars import Jars

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
log.dirs={data}
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
"""
CLUSTER = "ZXBsLXNwYXJrLXRlc3RzMQ"
STARTS_WITHIN = 120.0


class Broker:
    """Topics come into being with two partitions when they are written to. Closed at the end of a ``with``."""

    def __init__(self, jars: Jars, folder: Path) -> None:
        self._class_path = os.pathsep.join(map(str, jars.broker))
        self._folder = folder
        port, controller = _free_ports(2)
        self.servers = f"127.0.0.1:{port}"
        self._port = port
        self._properties = folder / "server.properties"
        self._properties.write_text(PROPERTIES.format(port=port, controller=controller, data=folder / "data"))
        formatted = subprocess.run(
            self._java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", str(self._properties)),
            capture_output=True, text=True, check=False,
        )
        assert formatted.returncode == 0, formatted.stdout + formatted.stderr
        with (folder / "broker.log").open("wb") as log:
            self._process = subprocess.Popen(
                self._java("kafka.Kafka", str(self._properties)), stdout=log, stderr=log, stdin=subprocess.DEVNULL
            )

    def __enter__(self) -> Broker:
        until = time.monotonic() + STARTS_WITHIN
        while not self._listens():
            if self._process.poll() is not None or time.monotonic() > until:
                self.close()
                raise RuntimeError(f"the broker does not come up: {(self._folder / 'broker.log').read_text()[-2000:]}")
            time.sleep(0.1)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._process.kill()
        self._process.wait()

    def _listens(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self._port)) == 0

    def _java(self, *arguments: str) -> list[str]:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home, "bin", "java")) if home else "java"
        return [java, "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", self._class_path, *arguments]


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


__all__ = ["Broker"]
