"""Snapshots and pages: the state of a runtime as bytes."""
