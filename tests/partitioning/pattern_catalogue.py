"""Patterns and by what they may be split; see ``catalogue``."""
from __future__ import annotations

K, TU = {"T": "k"}, {"T": "k", "U": "u"}


def over(pattern: str, select: str = "select *") -> str:
    return f"{select} from pattern [{pattern}]"


SPLIT: list[tuple[str, dict[str, str]]] = [
    (over("every a=T -> b=U(u=a.k)"), TU),
    (over("every a=T(x > 0) -> b=U(u=a.k) -> c=U(u=b.u, g > a.n)"), TU),
    (over("every a=T -> b=T(k=a.k, n > a.n)"), K),
    (over("every a=T -> b=U(u=a.k and g=a.g)"), {"T": "k g", "U": "u g"}),
    (over("(every a=T -> b=U(u=a.k)) -> T(k=b.u)"), TU),
    (over("every a=T -> b=U(u=a.k) where timer:within(4 msec)"), TU),
    (over("every a=T -> (timer:interval(3 msec) and not U(u=a.k))"), TU),
    (over("every a=T -> (b=U(u=a.k) and not T(k=a.k))"), TU),
    (over("every a=T -> (b=U(u=a.k) or timer:interval(4 msec) or c=T(k=a.k, n > 2))"), TU),
    (over("every a=T -> every b=U(u=a.k)"), TU),
    (over("every a=T -> [2] b=U(u=a.k)"), TU),
    (over("every a=T -> [2] b=U(u=a.k) -> c=T(k=b[0].u)"), TU),
    (over("every a=T -> b=U(u=a.k) until T(k=a.k, x > 0)"), TU),
    (over("every a=T -> [1:2] b=U(u=a.k) until timer:interval(6 msec)"), TU),
    (over("every a=T -> every-distinct(b.g) b=U(u=a.k)"), TU),
    (over("every a=T -> (every b=U(u=a.k)) while (b.g < 2)"), TU),
    (over("every a=T -> (every b=U(u=a.k)) where timer:withinmax(9 msec, 2)"), TU),
    (over("every a=T -> timer:interval(2 msec) -> b=U(u=a.k)"), TU),
    (over("every a=T -> timer:at(*, *, *, *, *, *, *, */5) -> b=U(u=a.k)"), TU),
    (over("every-distinct(a.k) a=T"), K),
    (over("every-distinct(a.k, a.n, 4 msec) a=T"), {"T": "k n"}),
    (over("every-distinct(a.n, a.k) a=T -> b=U(u=a.k)"), TU),
    (over("(every a=T -> b=U(u=a.k)) or (every c=U -> d=T(k=c.u))"), TU),
    (over("every a=V -> b=T(k=a.place.city)"), {"V": "place.city", "T": "k"}),
    (over("every a=T -> b=U(u is a.k)"), TU),
    (over("every a=T -> b=U(u=a.k)", "select a.k as k, count(*) as c, sum(b.y) as s") + " group by a.k", TU),
    (over("every a=T -> b=U(u=a.k)", "select irstream b.u as u, count(*) as c") + "#time(4 msec) group by b.u", TU),
    (over("every a=T -> b=U(u=a.k)", "select irstream a.n as n, b.y as y") + "#unique(a.k)", TU),
    (over("every a=T -> b=U(u=a.k)", "select distinct a.k, b.g"), TU),
    (over("every a=T", "select a.k as k, count(*) as c") + " group by a.k", K),
    (over("every a=T -> b=U(u=a.k) ", "select *") +
     " match_recognize (partition by a.k measures A.a.n as x, B.b.y as y pattern (A B) define B as B.b.y > A.b.y)", TU),
    ("insert into P " + over("every a=T -> b=U(u=a.k)", "select b.u as k, a.n as n") + "; select k, sum(n) as s from P group by k", TU),
    ("insert into P " + over("every a=T -> b=U(u=a.k)", "select a, b") + "; select a.k as k, count(*) as c from P group by a.k", TU),
    ("insert into M select k as kk, n from T(x >= 0); " + over("every a=M -> b=U(u=a.kk) -> c=M(kk=a.kk)"), TU),
    ("insert into M select k as kk, n from T; insert into P " + over("every a=M -> b=M(kk=a.kk)", "select a.kk as k, b.n as n") +
     "; " + over("every p=P -> u=U(u=p.k)"), TU),
]  # fmt: skip

IN_ANY_WAY: list[tuple[str, bool]] = [
    (over("every a=T"), True),
    (over("every a=T or every T(n > 1)"), True),
    (over("every a=T -> timer:interval(3 msec)", "select a.k as k, a.n as n"), False),
]

WHOLE: list[tuple[str, str]] = [
    (over("a=T -> b=U(u=a.k)"), "the atom a=T"),
    (over("every (a=T -> b=U(u=a.k))"), "the pattern's every over 'followed by'"),
    (over("every a=T -> b=U"), "the atom b=U"),
    (over("every a=T -> b=U(u=a.k) -> c=T(n=a.n)"), "the atom c=T"),
    (over("every a=T -> (b=U(u=a.k) and not T(n > 1))"), "the atom T"),
    (over("every a=T -> b=U(u in (a.k, 'a'))"), "the atom b=U"),
    (over("every a=T -[2]> b=U(u=a.k)"), "the pattern's -[n]>"),
    (over("[2] a=T"), "the pattern's repeat [2]"),
    (over("every [2] a=T"), "the pattern's every over 'repeat [2]'"),
    (over("every-distinct(a.n % 2) a=T -> b=U(u=a.k)"), "the pattern's every-distinct"),
    (over("every-distinct(a.n) a=T -> b=U(u=a.k)"), "the atom b=U"),
    (over("every a=T@consume -> b=T(k=a.k)@consume"), "@consume"),
    (over("every a=T -> b=U(u=a.k)").replace("[", "@SuppressOverlappingMatches [", 1), "@SuppressOverlappingMatches"),
    (over("every a=T -> b=T(k=a.k) -> c=T(k=a.k)").replace("[", "@DiscardPartialsOnMatch [", 1), "@DiscardPartialsOnMatch"),
    (over("not T -> b=U"), "the pattern's not"),
    (over("every a=T and every b=U"), "the pattern's and"),
    (over("timer:interval(3 msec) -> every a=T -> b=U(u=a.k)"), "the pattern's timer interval 3 millisecond"),
    (over("(every a=T -> b=U(u=a.k)) while (b.g < 2)"), "the pattern's while b.g < 2"),
    (over("every a=T -> b=U(u=a.k)", "select count(*) as c"), "the aggregation"),
    (over("every a=T -> b=U(u=a.k)", "select b.g as g, count(*) as c") + " group by b.g", "group by"),
    (over("every a=T -> (b=U(u=a.k) or c=T(k=a.k))", "select b.u as u, count(*) as c") + " group by b.u", "group by"),
    (over("every a=T -> b=U(u=a.k)", "select irstream a.k as k") + "#length(2)", "the window #length"),
]
"""(module, the operator in the way)"""
