"""Tests of rules: cases as data beside modules, run by ``epl test`` and collected by pytest (docs/guides/testing.md)."""
