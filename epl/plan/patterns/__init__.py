"""EPL patterns and row patterns."""
