"""Filters of streams: what is looked up and what is evaluated."""
