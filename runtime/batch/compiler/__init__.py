"""Kernel source → function."""
