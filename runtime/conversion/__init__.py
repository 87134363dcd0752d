"""Values from outside, as events hold them, and back."""
