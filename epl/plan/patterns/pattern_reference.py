"""What patterns consist of, as the reference page explains it: every operator, guard, observer and annotation."""
from __future__ import annotations

import attrs

from epl.plan.patterns import pattern as plan
from epl.plan.patterns.pattern import PatternNode


@attrs.frozen
class Element:
    """``key``: how it is recognised in a text; ``signatures``: how it is written; ``node``: what it becomes, None for annotations."""

    key: str
    title: str
    signatures: tuple[str, ...]
    meaning: str
    node: type[PatternNode] | None = None


ELEMENTS = (
    Element(
        "a=", "Filters and tags", ("Type", "tag=Type", "tag=Type(conditions)", "tag=Type[contained]"),
        "Matches the first event after it began that satisfies the conditions, which may refer to earlier tags. An event that begins "
        "it does not match it. The tag is a column of the match; with contained events it is an array", plan.FilterNode),
    Element(
        "every", "every", ("every item",),
        "Begins its item again whenever that matches or fails. Over a filter alone: for each event. It binds tighter than `->`, `and` "
        "and `or`: `every (a -> b)` begins again after b, `every a -> b` after each a", plan.EveryNode),
    Element(
        "every-distinct", "every-distinct", ("every-distinct(key, …) item", "every-distinct(key, …, period) item"),
        "As every, for matches whose keys differ from those of all before, or of those within the period. Keys are expressions over the "
        "tags of its item", plan.EveryDistinctNode),
    Element(
        "->", "Followed by", ("first -> second",),
        "Begins the second item with each match of the first. It fails when nothing waits any more", plan.FollowedByNode),
    Element(
        "-[", "Followed by, limited", ("first -[n]> second",),
        "As `->`; while n instances of the second item wait, a match of the first begins none. n is a number, a variable or an "
        "expression of these; null or less than 0 means no limit", plan.FollowedByNode),
    Element(
        "and", "and", ("first and second",),
        "Matches when all items have, with each combination of their matches; fails with any", plan.AndNode),
    Element("or", "or", ("first or second",), "Matches with any item, and ends the others. The tags of those are null", plan.OrNode),
    Element(
        "not", "not", ("not item", "item and not other"),
        "Holds until its item matches, and fails then. Within `and` it is a condition of absence", plan.NotNode),
    Element(
        "[2]", "Repeat", ("[n] item",),
        "Matches when its item has matched n times. Tags below it are arrays: `a[0].id`, `a.lastOf().id`", plan.UntilNode),
    Element(
        "until", "Repeat until", ("item until end", "[low:high] item until end", "[low:] item until end", "[:high] item until end"),
        "Repeats its item until the end matches, and matches then. Fails if the end comes before the lower bound; what exceeds the "
        "upper bound is not waited for. Bounds may be expressions over earlier tags", plan.UntilNode),
    Element(
        "while", "while", ("item while (condition)",),
        "Passes the item's matches as long as the condition holds, and ends the item with the first for which it does not",
        plan.WhileNode),
    Element(
        "timer:within", "timer:within", ("item where timer:within(period)",),
        "Ends its item when the period is over. The period begins with the item; a match after it is none", plan.WithinNode),
    Element(
        "timer:withinmax", "timer:withinmax", ("item where timer:withinmax(period, count)",),
        "As timer:within, and ends its item with the match after the last of so many", plan.WithinNode),
    Element(
        "timer:interval", "timer:interval", ("timer:interval(period)",),
        "Matches when the period is over: seconds as a number, or a period with units, months and years among them", plan.IntervalNode),
    Element(
        "timer:at", "timer:at",
        ("timer:at(minutes, hours, days of month, months, days of week)",
         "timer:at(…, seconds, time zone, milliseconds, microseconds)"),
        "Matches at the next time of the schedule: numbers, `*`, `*/n`, `a:b`, lists `[…]`, `last`, `n last`, `n weekday`, "
        "`last weekday`. Without seconds: at second 0. A text that names no time zone is GMT, as in Java", plan.CrontabNode),
    Element(
        "timer:schedule", "timer:schedule",
        ("timer:schedule(iso: 'R3/1970-01-01T00:00:05Z/PT10S')", "timer:schedule(date: …, repetitions: …, period: …)"),
        "Matches at a date, or from a date on after each period, so many times (-1: for ever). Without a date it begins now. It may match "
        "several times as the whole pattern, below every and below or", plan.ScheduleNode),
    Element(
        "@consume", "@consume", ("tag=Type@consume", "tag=Type@consume(level)"),
        "Of the filters that match an event, only those of the highest level take it; filters without the annotation have level 0"),
    Element(
        "@SuppressOverlappingMatches", "@SuppressOverlappingMatches", ("pattern @SuppressOverlappingMatches [ … ]",),
        "Of the matches of one event that share an event, only the first is emitted"),
    Element(
        "@DiscardPartialsOnMatch", "@DiscardPartialsOnMatch", ("pattern @DiscardPartialsOnMatch [ … ]",),
        "With a match, all that waits and holds an event of it ends"),
)

__all__ = ["ELEMENTS", "Element"]
