"""Rows that come from calls: Python methods, databases, static tables; their caches."""
