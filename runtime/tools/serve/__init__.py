"""``epl serve``: a playground in the browser, and a server for rules and events (docs/serve.md, docs/design/serve.md).

What comes over the network is not trusted: EPL text, scripts, events, names, links. ``access`` decides who may ask, ``limits`` how much,
``sandbox`` runs the playground's programs in processes of their own.
"""
