"""Engine time: the clock, timers, periods, crontabs, rows that come late."""
