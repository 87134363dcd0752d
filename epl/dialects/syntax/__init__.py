"""Text of a dialect → its tree."""
