# make demo: the demo job on Spark. make test: the tests; make quick: the fast ones. make bench: cost per event, compared with other
# engines. Each makes its own virtual environment under .venv/. make docs: the site, into build/site; "make docs SERVE=1" serves it while
# you write.
PYTHON ?= python3
JOBS ?= 2
DEMO := .venv/demo
TEST := .venv/test
DOCS := .venv/docs
# Tests start hundreds of processes: what Python compiles is kept, also where the caller's shell would not have it.
export PYTHONDONTWRITEBYTECODE :=
# $(call WITH_JAVA,VENV): set JAVA_HOME, to a downloaded Java where none is installed; fails where there is none
WITH_JAVA = { home=$$(.ci/java-home $(1)/bin/python) && export JAVA_HOME="$$home"; }

.PHONY: demo test quick drawn docs package bench bench-spark kill lint clean python

demo: $(DEMO)/ready
	@if $(call WITH_JAVA,$(DEMO)); then $(DEMO)/bin/python examples/demo.py; else $(DEMO)/bin/python examples/demo.py --in-process; fi

test: $(TEST)/ready
	@command -v mvn >/dev/null || echo "make test: without Maven (mvn) the tests over a Kafka broker are skipped."
	@if [ -z "$$EPL_TRACES" ]; then echo "make test: EPL_TRACES is not set, the tests over recorded traces are skipped."; fi
	@$(call WITH_JAVA,$(TEST)) || echo "make test: without Java the Spark tests are skipped."; \
	$(TEST)/bin/python -m pytest -n $(JOBS) --dist loadgroup $(ARGS)

# the recorded cases, and one file of tests per room: under two minutes; the files are listed in tests/quick.txt
quick: $(TEST)/ready
	$(TEST)/bin/python -m pytest -n $(JOBS) -m "not slow and not spark" $(ARGS) @tests/quick.txt

# programs over the whole language beside Esper, which EPL_ORACLE asks (CONTRIBUTING.md); OPTIONS="--dense --restart"
drawn: $(TEST)/ready
	$(TEST)/bin/python -m tests.drawn.rounds $(or $(COUNT),100) $(or $(SEED),1) $(OPTIONS)

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
bench-spark: $(TEST)/ready
	$(call WITH_JAVA,$(TEST)) && $(TEST)/bin/python -m benchmarks.spark $(OPTIONS)

# jobs on Spark that die by SIGKILL and lose nothing (docs/operations.md); OPTIONS="--events 500000 --random 3"
kill: $(TEST)/ready
	$(call WITH_JAVA,$(TEST)) && $(TEST)/bin/python -m tests.spark.kill $(OPTIONS)

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10) and "Python 3.10 or newer is needed, this is " + sys.version.split()[0] + ": make PYTHON=python3.11 ...")'

$(DEMO)/ready: setup.cfg pyproject.toml | python
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --quiet --upgrade pip
	$(DEMO)/bin/python -m pip install --quiet --quiet 'cjdk>=0.5' -e '.[spark]'
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
