"""What every run consists of."""
