"""EPL patterns while they run: operators, each compiled once a statement, and their instances, which wait for events and times.

An instance of an operator begins with the events of the tags that have matched before it (its match), and reports to the one above it:
``matched`` with more events, ``failed`` where it can never match any more. ``ended`` goes with the last match. What has ended or is quit
has no filter and no timer.
"""
