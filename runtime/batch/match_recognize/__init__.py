"""match_recognize: kernels and runs."""
