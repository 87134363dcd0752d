"""State that statements share: named windows, tables, indexes, and the statements that read and write them."""
