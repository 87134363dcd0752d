"""What users hold: the runtime, its deployments, its registry."""
