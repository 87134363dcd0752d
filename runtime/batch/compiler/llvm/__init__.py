"""Printed kernels → machine code: types, LLVM's text, an entry that takes Python's arrays. See ``docs/design/batch_tier.md``."""
