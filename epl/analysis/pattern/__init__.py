"""EPL patterns: what is between the brackets of ``pattern [ … ]`` → a tree of nodes."""
