"""The match_recognize clause."""
