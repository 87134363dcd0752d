"""Joins: deltas of several streams → deltas of rows."""
