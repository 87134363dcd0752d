"""Output rate limiting, in a kernel."""
