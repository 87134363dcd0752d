"""The rows of a delta, in a kernel."""
