"""Time zones by name: those of the IANA database, as ``zoneinfo`` has them, and the names and offsets that Java knows beside them."""

from __future__ import annotations

import datetime
import re
from zoneinfo import ZoneInfo

CUSTOM = re.compile(r"GMT([+-])(\d{1,2}):?(\d{2})?", re.ASCII)
LONGEST = 100
"""Characters of a name that is looked up: it becomes a file's name."""
FILES = ("posixrules", "localtime", "Factory")
COPIES = ("posix/", "right/")
"""What folders of zones hold that are none of the database's names."""

SHORT = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires", "ART": "Africa/Cairo",
    "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka", "CAT": "Africa/Harare", "CNT": "America/St_Johns",
    "CST": "America/Chicago", "CTT": "Asia/Shanghai", "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "EST": "Etc/GMT+5",
    "HST": "Etc/GMT+10", "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia",
    "MST": "Etc/GMT+7", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal", "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip
"""Names of three letters that Java's TimeZone knows."""


def zone_named(name: str) -> ZoneInfo | None:
    """Return the zone of the IANA database with this name; None where there is none, whatever the text is.

    >>> zone_named("Europe/Berlin"), zone_named("Europe"), zone_named("x" * 3000)
    (zoneinfo.ZoneInfo(key='Europe/Berlin'), None, None)
    """
    if not 0 < len(name) <= LONGEST or name in FILES or name.startswith(COPIES):
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):  # no file, no name of a file, a folder
        return None


def java_zone(name: str) -> datetime.tzinfo:
    """Return a time zone by its name, by three letters (``PST``) or as ``GMT+5``, ``GMT-03:30``; GMT for any other text, as Java does.

    >>> java_zone("GMT-03:30").utcoffset(None), java_zone("GMT+24")
    (datetime.timedelta(days=-1, seconds=73800), datetime.timezone.utc)
    """
    match = CUSTOM.fullmatch(name)
    if match is None:
        return zone_named(SHORT.get(name, name)) or datetime.timezone.utc
    hours, minutes = int(match[2]), int(match[3] or 0)
    if hours > 23 or minutes > 59:
        return datetime.timezone.utc
    offset = datetime.timedelta(hours=hours, minutes=minutes)
    return datetime.timezone(-offset if match[1] == "-" else offset)


__all__ = ["java_zone", "zone_named"]
