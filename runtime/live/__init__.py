"""What runs, while it runs: a widget for notebooks (``view``), and a dashboard of metrics for terminals (``dashboard``)."""
