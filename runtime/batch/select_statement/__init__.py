"""Select statements: kernel and run."""
