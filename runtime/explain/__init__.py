"""Pictures of plans: a neutral graph (``graph``), built from a plan (``statements``, ``modules``), and a writer for each format."""
from runtime.explain.formats import Format
from runtime.explain.graph import Graph, GraphEdge, GraphGroup, GraphNode
from runtime.explain.modules import module_graph
from runtime.explain.notebook_html import Picture, picture
from runtime.explain.statements import statement_graph

__all__ = ["Format", "Graph", "GraphEdge", "GraphGroup", "GraphNode", "Picture", "module_graph", "picture", "statement_graph"]
