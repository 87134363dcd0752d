"""Output rate limiting: when rows are emitted, and which of those that came until then."""
