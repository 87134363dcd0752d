"""The from clause: streams of every source, and how they join."""
