"""What it costs, measured beside other engines on the same events: ``make bench`` (``python -m benchmarks --help``)."""
