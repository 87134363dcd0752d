"""Cost per event, compared with other engines on the same events: ``make bench`` (``python -m benchmarks --help``)."""
