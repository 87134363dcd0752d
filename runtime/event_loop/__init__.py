"""One event and all that follows from it: who wants it, in which order, what is delivered."""
