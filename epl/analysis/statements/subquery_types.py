"""What sub-queries read is there: refused before any other fault of a statement, as Esper does."""
from __future__ import annotations

import attrs

from epl.analysis.clauses.from_clause.historical import is_historical
from epl.analysis.clauses.from_clause.streams import source_type
from epl.analysis.statements.subquery_numbers import outer_subqueries
from epl.catalog import Catalog
from epl.syntax import Select, TypeFilter
from epl.syntax.clauses import Contained
from epl.syntax.nodes import Body
from epl.syntax.patterns import Guard, Observer

WITHOUT = (Contained, Observer, Guard)
"""Where sub-queries may not be at all."""


def check_subquery_types(body: Body, catalog: Catalog) -> None:
    """Refuse a statement whose sub-queries name event types, named windows or tables that there are not; those of order by come later."""
    for subquery in outer_subqueries(attrs.evolve(body, order_by=()) if isinstance(body, Select) else body, WITHOUT):
        select = subquery.select
        if not isinstance(select, Select) or select.from_ is None:
            continue
        source = select.from_.streams[0].source
        if isinstance(source, TypeFilter) and source.type_name not in catalog.tables and not is_historical(source, catalog):
            source_type(source, catalog)


__all__ = ["check_subquery_types"]
