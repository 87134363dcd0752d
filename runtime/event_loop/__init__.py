"""One event and all that follows from it: which statements get it, in which order, what is delivered."""
