"""Scalar functions of the dialects, by subject; ``registry`` has them by name."""
