"""The batch tier: whole statements as compiled loops over columns.

    plan ─▶ shape (may it run here, and why not) ─▶ kernel source ─▶ compiled loop ─▶ columns in, state in arrays, columns out

``scalars`` prints typed expressions, ``accumulators`` aggregations, ``windows`` data windows, ``result_sets`` the output shapes,
``row_patterns`` match_recognize; ``kernels`` puts a source together and compiles it; ``intake`` makes arrays of Arrow columns;
``strings`` gives strings their codes; ``tier`` decides which statements run here and moves them.
"""
