"""Typed expressions → kernel source."""
