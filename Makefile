# make demo: the demo job on Spark. make test: the tests. make bench: cost per event, compared with other engines. Each makes its own virtual
# environment under .venv/. make docs: the site, into build/site; "make docs SERVE=1" serves it while you write.
PYTHON ?= python3
JOBS ?= 2
DEMO := .venv/demo
TEST := .venv/test
DOCS := .venv/docs

.PHONY: demo test docs package bench bench-spark kill lint clean java python

demo: java $(DEMO)/ready
	$(DEMO)/bin/python examples/demo.py

test: $(TEST)/ready
	@.ci/require-java || echo "make test: without Java the Spark tests are skipped."
	@command -v mvn >/dev/null || echo "make test: without Maven (mvn) the tests over a Kafka broker are skipped."
	@if [ -z "$$EPL_TRACES" ]; then echo "make test: EPL_TRACES is not set, the tests over recorded traces are skipped."; fi
	$(TEST)/bin/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

lint: $(TEST)/ready
	$(TEST)/bin/ruff check .
	$(TEST)/bin/mypy
	$(TEST)/bin/lint-imports --no-cache

# NO_MKDOCS_2_WARNING: the theme's advertisement of its successor
docs: $(DOCS)/ready
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs $(if $(SERVE),serve,build --strict --quiet)

# the wheel and the source distribution, checked, in dist/
package: $(TEST)/ready
	rm -rf dist
	$(TEST)/bin/python -m build --outdir dist .
	$(TEST)/bin/python -m twine check --strict dist/*

# WORKLOADS=W1,W2 ENGINES=row,batch,numpy EVENTS=20000 PARTS=throughput; OPTIONS="--report docs/performance.md" (docs/performance.md)
bench: $(TEST)/ready
	$(TEST)/bin/python -m benchmarks --workloads "$(WORKLOADS)" --engines "$(ENGINES)" --parts "$(PARTS)" $(if $(EVENTS),--events $(EVENTS)) $(OPTIONS)

# the hosts on Spark, as ratios to reading the same files; OPTIONS="--rows 500000 --batches 5"
bench-spark: java $(TEST)/ready
	$(TEST)/bin/python -m benchmarks.spark $(OPTIONS)

# jobs on Spark that die by SIGKILL and lose nothing (docs/operations.md); OPTIONS="--events 500000 --random 3"
kill: java $(TEST)/ready
	$(TEST)/bin/python -m tests.spark.kill $(OPTIONS)

java:
	@.ci/require-java

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.11 ...")'

$(DEMO)/ready: setup.cfg pyproject.toml | python
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --quiet --upgrade pip
	$(DEMO)/bin/python -m pip install --quiet --quiet -e '.[spark]'
	touch $@

$(TEST)/ready: setup.cfg pyproject.toml | python
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python -m pip install --quiet --quiet --upgrade pip
	$(TEST)/bin/python -m pip install --quiet --quiet -e '.[dev,spark,fast,delta,serve]'
	touch $@

$(DOCS)/ready: setup.cfg pyproject.toml | python
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python -m pip install --quiet --quiet --upgrade pip
	$(DOCS)/bin/python -m pip install --quiet --quiet -e '.[docs]'
	touch $@

clean:
	rm -rf .venv build dist *.egg-info
