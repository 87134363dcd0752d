"""Events from outside and rows to outside: Kafka, files, databases, standard input and output (docs/connectors.md)."""
from runtime.connectors.databases import DatabaseSink as DatabaseSink
from runtime.connectors.files import FileSink as FileSink
from runtime.connectors.files import FileSource as FileSource
from runtime.connectors.files import RowSource as RowSource
from runtime.connectors.files import StreamSink as StreamSink
from runtime.connectors.input import Input as Input
from runtime.connectors.input import Source as Source
from runtime.connectors.kafka import KafkaSink as KafkaSink
from runtime.connectors.kafka import KafkaSource as KafkaSource
from runtime.connectors.output import OutputRow as OutputRow
from runtime.connectors.output import Sink as Sink
from runtime.connectors.pipeline import Pipeline as Pipeline

__all__ = [
    "DatabaseSink", "FileSink", "FileSource", "Input", "KafkaSink", "KafkaSource", "OutputRow", "Pipeline", "RowSource", "Sink", "Source",
    "StreamSink",
]
