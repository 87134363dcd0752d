"""Streams that meet: joins, look-ups by index, streams that come from calls, sub-queries."""
