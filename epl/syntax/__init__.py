"""The syntax tree: frozen nodes, one file a family. ``from epl import syntax`` then ``syntax.Select``, ``syntax.Chain`` …"""
from epl.syntax import patterns as patterns
from epl.syntax.clauses import *  # noqa: F403
from epl.syntax.expressions import *  # noqa: F403
from epl.syntax.nodes import Body as Body
from epl.syntax.nodes import Node as Node
from epl.syntax.statements import *  # noqa: F403
