"""Recorded traces of Esper, replayed."""
