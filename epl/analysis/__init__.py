"""From syntax to plan: pure functions over the catalog."""
