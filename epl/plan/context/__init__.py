"""Contexts: what starts, ends and partitions."""
