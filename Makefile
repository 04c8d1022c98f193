# Every target sets up what it needs: `make test` in a fresh clone is enough. The second run finds the stamp and is quick.
#
#   PYTHON=python3.13 make test     another interpreter (remove .venv first)
#   make demo ARGS="--out here"     arguments for the command behind demo and bench
#   make test TESTS=tests/model some tests only

PYTHON ?= python3
WORKERS ?= 2
TESTS ?=
ARGS ?=
FIGURES ?= all

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ENGINES_READY := $(VENV)/.engines-ready
# -qq: errors only.
PIP_INSTALL := -m pip install -qq --disable-pip-version-check --no-input
# From a lock file: only files whose hashes are in it.
PIP_INSTALL_LOCK := $(PIP_INSTALL) --require-hashes -r

# Real data sets, where the folder beside the repository has them and nobody said otherwise.
ifeq ($(strip $(SCUMBLE_DATA)),)
ifneq ($(wildcard ../shared/data/.),)
export SCUMBLE_DATA := $(abspath ../shared/data)
endif
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test search test-spark test-audit test-joint test-faults test-studio docs test-docs faults fuzz audit lint format types accuracy reproduce bench wheel wheelhouse test-install test-travel check-dependencies lock clean check-python

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-19s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(READY) ## the main job on built-in data, start to finish
	@$(BIN)/scumble demo $(ARGS)

test: lint types ## lint, types, then all tests of the core
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --durations=15 $(TESTS)

search: $(READY) ## the laws on new random examples, ARGS=10 times over (a failure prints how to repeat it)
	@for turn in $$(seq $(or $(ARGS),1)); do \
	  HYPOTHESIS_PROFILE=search $(BIN)/pytest -q -n $(WORKERS) -m "hypothesis and not spark and not postgres" $(TESTS) || exit $$?; done

test-spark: $(ENGINES_READY) ## Spark on two local workers, and PostgreSQL: installs Java, pyspark and the rest
	$(BIN)/pytest -m "spark or postgres" --durations=8 $(or $(TESTS),tests/engines tests/sources tests/laws)

test-audit: $(READY) ## audits of planted bugs and of the correct methods: many runs of private mechanisms
	$(BIN)/pytest -m audit -n $(WORKERS) --dist worksteal --durations=8 $(TESTS)

test-joint: $(READY) ## joint releases: real processes, real connections, and whatever can go wrong with them
	$(BIN)/pytest -m joint -n $(WORKERS) --dist worksteal --durations=8 $(TESTS)

test-faults: $(READY) ## commands that fail or are killed at some places, and what remains (docs/faults.md); needs a C compiler
	$(BIN)/pytest -m faults -n $(WORKERS) --dist worksteal --durations=5 $(TESTS)
	PYTHONPATH=tests/support $(BIN)/python -m faults $(ARGS)

test-studio: $(READY) ## web pages in a real browser: installs chromium, node and nginx
	@bash .ci/install-browser
	$(BIN)/pytest -m studio --durations=8 $(TESTS)

docs: $(READY) ## the documentation site, into build/docs: warnings are errors, nothing is fetched
	$(BIN)/python docs/site/build_site.py

test-docs: docs ## all commands and snippets of README and docs, all examples, and the site; says what was not run and why
	$(BIN)/python docs/site/commands.py --jobs $(WORKERS) $(ARGS) $(TESTS)

faults: $(READY) ## the same at every place, for hours; writes the table in docs/faults.md (resumes after an interruption)
	PYTHONPATH=tests/support $(BIN)/python -m faults --every 1 --tallies tests/faults/tallies.json --page docs/faults.md $(ARGS)

fuzz: $(READY) ## changed inputs for every reader of foreign input, 20 s each (docs/fuzzing.md)
	PYTHONPATH=tests/support $(BIN)/python -m fuzzing $(ARGS)

audit: $(READY) ## a lower bound on the epsilon of every method; writes the table in docs/audit.md (resumes after an interruption)
	$(BIN)/python benchmarks/audit_table.py docs/audit.md $(ARGS)

lint: $(READY) ## ruff: rules and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(READY) ## let ruff mend what it can
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

types: $(READY) ## mypy, strict, over src
	$(BIN)/mypy

accuracy: $(READY) ## accuracy of releases of Adult, 40 runs a line
	@$(BIN)/python benchmarks/accuracy.py $(ARGS)

reproduce: $(READY) ## all figures of the papers from our code, into scumble-figures (an hour or two; ARGS=--quick: minutes)
	@for figure in $(FIGURES); do $(BIN)/scumble reproduce $$figure --out scumble-figures $(ARGS) || exit $$?; done

bench: $(READY) ## the benchmarks
	@$(BIN)/python benchmarks/run.py $(ARGS)

wheel: $(READY) ## the wheel, built twice and compared, with its bill of materials (CycloneDX), into dist
	@$(BIN)/python benchmarks/build_wheel.py dist

test-install: $(READY) ## wheel and sdist with pinned, oldest and newest packages, each in an empty environment, and the demo from it
	@$(BIN)/python benchmarks/clean_install.py $(ARGS)

wheelhouse: wheel ## the wheel and all packages of the core as files in dist/wheelhouse, for a machine without a network
	@rm -rf dist/wheelhouse
	@$(BIN)/python -m pip download -qq --disable-pip-version-check --only-binary :all: -d dist/wheelhouse dist/scumble-*.whl
	@echo "dist/wheelhouse: $$(ls dist/wheelhouse | wc -l) files, $$(du -sm dist/wheelhouse | cut -f1) MB. There: pip install --no-index -f wheelhouse scumble"

# mlcroissant and frictionless have an environment of their own: they pin other versions of what the core needs.
test-travel: $(READY) requirements-travel.lock ## other programs read a release: mlcroissant, frictionless, R (installs r-base-core)
	@test -e .venv-travel/.ready || { $(BIN)/python -m venv --clear .venv-travel && \
	  .venv-travel/bin/python $(PIP_INSTALL_LOCK) requirements-travel.lock && touch .venv-travel/.ready; }
	@bash .ci/install-r
	$(BIN)/pytest -m travel --durations=3 $(or $(TESTS),tests/files)

# pip-audit has an environment of its own. Without a network nothing is checked, which the output says and which is no failure.
check-dependencies: $(READY) ## known vulnerabilities of the pinned packages, by pip-audit, if it can be reached
	@test -x .venv-audit/bin/pip-audit || { $(BIN)/python -m venv --clear .venv-audit && \
	  .venv-audit/bin/python $(PIP_INSTALL_LOCK) requirements-audit.lock; } || rm -rf .venv-audit
	@$(BIN)/python benchmarks/audit_dependencies.py .venv-audit/bin/pip-audit \
	  requirements.lock requirements-engines.lock requirements-audit.lock requirements-travel.lock

# The lock is made on the oldest Python we support: what installs there has wheels for the newer ones too, while the
# reverse does not hold. A clean environment, our declared dependencies, and what pip chose: nothing else.
lock: check-python ## choose all pinned versions anew (Python 3.11)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { \
	  echo "make lock: wants Python 3.11, the oldest supported; say PYTHON=python3.11 make lock" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python $(PIP_INSTALL) '.[dev]'
	@{ echo '# All packages of the core and of the extra "dev". Made by `make lock`; do not edit.'; \
	   .venv-lock/bin/python -m pip freeze --disable-pip-version-check --exclude scumble; } > .venv-lock/pins
	@.venv-lock/bin/python benchmarks/lock_hashes.py < .venv-lock/pins > .venv-lock/lock
	@mv .venv-lock/lock requirements.lock
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python $(PIP_INSTALL) pip-audit packaging
	@{ echo '# pip-audit and what it needs, for `make check-dependencies`. Made by `make lock`; do not edit.'; \
	   .venv-lock/bin/python -m pip freeze --disable-pip-version-check; } > .venv-lock/pins
	@.venv-lock/bin/python benchmarks/lock_hashes.py < .venv-lock/pins > .venv-lock/lock
	@mv .venv-lock/lock requirements-audit.lock
	$(PYTHON) -m venv --clear .venv-lock
	.venv-lock/bin/python $(PIP_INSTALL) mlcroissant frictionless packaging
	@{ echo '# mlcroissant, frictionless and what they need, for `make test-travel`. Made by `make lock`; do not edit.'; \
	   .venv-lock/bin/python -m pip freeze --disable-pip-version-check; } > .venv-lock/pins
	@.venv-lock/bin/python benchmarks/lock_hashes.py < .venv-lock/pins > .venv-lock/lock
	@mv .venv-lock/lock requirements-travel.lock
	@rm -rf .venv-lock
	@echo "requirements.lock: $$(grep -c == requirements.lock) packages"

clean: ## remove the environment, caches and build output
	rm -rf $(VENV) .venv-audit .venv-lock .venv-travel .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

check-python:
	@command -v $(PYTHON) >/dev/null || { echo "make: no '$(PYTHON)' here; install Python 3.11 or newer, or say PYTHON=/path/to/python make ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: scumble needs Python 3.11 or newer, but '$(PYTHON)' is $$($(PYTHON) --version 2>&1); say PYTHON=python3.11 make ..." >&2; exit 1; }

$(READY): requirements.lock pyproject.toml
	@test -x $(BIN)/python || { $(MAKE) --no-print-directory check-python && echo "creating $(VENV)" && $(PYTHON) -m venv $(VENV); }
	@echo "installing the pinned packages (a minute or two the first time)"
	@$(BIN)/python $(PIP_INSTALL_LOCK) requirements.lock
	@$(BIN)/python $(PIP_INSTALL) --no-build-isolation --no-deps --editable .
	@touch $@

$(ENGINES_READY): $(READY) requirements-engines.lock .ci/install-services
	@bash .ci/install-services
	@echo "installing pyspark and the driver of PostgreSQL (half a gigabyte the first time)"
	@$(BIN)/python $(PIP_INSTALL_LOCK) requirements-engines.lock
	@touch $@
