"""Statements that differ in constants only, run as one."""
