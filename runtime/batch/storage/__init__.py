"""Columns and rows as kernels hold them."""
