"""Expressions: from the syntax to typed nodes."""
