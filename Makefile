# kueue-dra-conformance: `make` prints this menu.
#
# Every target sets up what it needs by itself, in .venv, from the locked versions in locks/.
# Needs git, make and Python >= 3.11 with venv; uv is used when it is there.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
GIGABYTES := $(shell echo $$(( $$(getconf _PHYS_PAGES 2>/dev/null || echo 4194304) * $$(getconf PAGE_SIZE 2>/dev/null || echo 4096) >> 30 )))
# Real Kueues at once: a case often waits, so three for each core; each takes a gigabyte or two, so no more than there is room for.
WORKERS ?= $(shell printf '%s\n' $$((3 * $(CORES))) $$(($(GIGABYTES) / 2 + 1)) 8 | sort -n | head -n 1)
# Processes that judge by the reference at once, forked when the cases are collected: one for each core, at most four.
FORKS ?= $(shell echo $$(( $(CORES) < 4 ? $(CORES) : 4 )))
TARGET ?= kueue
# The minor of Kueue that `make live` has judge, and those that are pinned.
KUEUE ?= 0.19
MINORS ?= 0.14 0.15 0.16 0.17 0.18 0.19
# How long `make differential` begins new worlds, and which; others each time unless a seed is named.
BUDGET ?= 10m
SEED ?=
# Where the parts of `make e2e` come from: source (built here, nothing pulled; takes root) or released (published images).
IMAGES ?= source
NODES ?= 1
# Cases at once on the one cluster, one for each core, at most six: more of them only get in each other's way.
E2E_WORKERS ?= $(shell echo $$(( $(CORES) < 6 ? $(CORES) : 6 )))
CLUSTER ?= kueue-dra-dev
PYTEST := $(BIN)/python -m pytest
# Folders that hold packages; a path file in .venv makes them importable before the project is installed.
ROOMS := . suites fixtures clusters reports controls differential vendor cli
# Whoever forbids compiled files waits four seconds more for each start of the suite.
unexport PYTHONDONTWRITEBYTECODE
# The suites draw no examples, and the summary of hypothesis takes a second to import.
CASES := -q -p no:hypothesispytest suites/kueue_dra_suites/conformance
SUITE := $(PYTEST) $(CASES)
# The reference logs nothing, warns of nothing and runs on no cluster: plugins less to import, and to ask about each row.
ALONE := $(addprefix -p no:,logging warnings unraisableexception threadexception faulthandler doctest unittest subtests \
  setuponly setupplan stepwise pastebin recwarn tmpdir legacypath pytest-kind-ng)

ifdef UV
MAKE_VENV := $(UV) venv --quiet --python '>=3.11' $(VENV)
INSTALL := VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --compile-bytecode
else
MAKE_VENV := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: help
help: ## print this menu
	@awk 'BEGIN {FS = ":.*## "} /^[a-z][a-z-]*:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; set PYTHON=/path/to/python3")'
	@$(MAKE_VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.made locks/run.txt
	@echo "installing the locked packages into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/run.txt
	@printf '%s\n' $(abspath $(ROOMS)) > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/kueue-dra-rooms.pth"
	@touch $@

$(VENV)/.dev: $(VENV)/.run locks/dev.txt pyproject.toml
	@echo "installing the locked development packages into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.e2e: $(VENV)/.dev locks/e2e.txt
	@echo "installing the locked packages of the e2e extra into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/e2e.txt
	@touch $@

.PHONY: install
install: $(VENV)/.dev ## set up .venv with everything, and the kueue-dra command in it

.PHONY: conformance
conformance: $(VENV)/.run ## the main job: the whole suite against the embedded reference; report in out/reference
	@$(SUITE) $(ALONE) --forks $(FORKS) --report-dir=out/reference $(ARGS)
	@$(BIN)/python -m kueue_dra_cli controls --report-dir=out/reference

.PHONY: conformance-all
conformance-all: $(VENV)/.run ## the same for every text and every minor of Kueue, two at a time; reports in out/reference-NAME
	@$(BIN)/python -m kueue_dra_reports.all_behaviours $(CASES) $(ALONE) $(ARGS)

.PHONY: live
live: $(VENV)/.dev ## the same suite against a real Kueue (built once, see docs/how-to/run-on-a-real-kueue.md), of the minor KUEUE=0.19; report in out/kueue
	@$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(SUITE) --target kueue --behaviour kueue-$(KUEUE) -n $(WORKERS) --report-dir=out/kueue $(ARGS)
	@$(BIN)/python -m kueue_dra_cli controls --target kueue --behaviour kueue-$(KUEUE) --report-dir=out/kueue

.PHONY: live-core
live-core: $(VENV)/.dev ## what the texts ask of a real Kueue, and nothing that only Kueue decides: a minute; report in out/kueue-core
	@$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(SUITE) --core --target kueue --behaviour kueue-$(KUEUE) -n $(WORKERS) --report-dir=out/kueue-core $(ARGS)

.PHONY: controls
controls: $(VENV)/.dev ## misconfigure TARGET=kueue (or reference) in every way: exactly the named cases have to go red; out/controls
	@[ $(TARGET) != kueue ] || $(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(BIN)/python -m kueue_dra_cli controls --target $(TARGET) --behaviour kueue-$(KUEUE) --report-dir=out/controls

.PHONY: matrix
matrix: $(VENV)/.dev ## the suite against each of MINORS, one after another, and one table over all of them in out/matrix
	@[ $(TARGET) != kueue ] || $(BIN)/python -m kueue_dra_clusters.binaries $(MINORS)
	@$(BIN)/kueue-dra matrix $(MINORS) --target $(TARGET) -n $(WORKERS) $(ARGS)

.PHONY: differential
differential: $(VENV)/.dev ## generated worlds on the reference and a real Kueue KUEUE=0.19 for BUDGET=10m; SEED=7 for the same again
	@$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(BIN)/kueue-dra differential --kueue $(KUEUE) --budget $(BUDGET) $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: test-live
test-live: $(VENV)/.dev ## the project's own tests of its clusters, on the real programs
	@$(BIN)/python -m kueue_dra_clusters.binaries
	@$(PYTEST) -q tests -m "live and not releases" $(ARGS)

.PHONY: test-releases
test-releases: $(VENV)/.dev ## the same world on each of MINORS, old and new (builds each release once)
	@$(BIN)/python -m kueue_dra_clusters.binaries $(MINORS)
	@$(PYTEST) -q tests -m releases $(ARGS)

.PHONY: e2e
e2e: $(VENV)/.e2e ## pods really get devices: kind, the DRA example driver and a real Kueue; IMAGES=released NODES=3 KUEUE=0.18
	@[ $(IMAGES) != source ] || $(BIN)/python -m kueue_dra_clusters.kind.packages
	@$(PYTEST) -q suites/kueue_dra_suites/e2e --images $(IMAGES) --nodes $(NODES) --kueue $(KUEUE) -n $(E2E_WORKERS) --maxschedchunk 1 \
	  --e2e-report out/e2e $(ARGS)

.PHONY: e2e-matrix
e2e-matrix: ## the end-to-end suite on Kueue 0.18 and 0.19, one after another; reports in out/e2e-MINOR
	@for minor in 0.18 0.19; do $(MAKE) --no-print-directory e2e KUEUE=$$minor ARGS="--e2e-report out/e2e-$$minor $(ARGS)" || exit 1; done

.PHONY: cluster-up
cluster-up: $(VENV)/.e2e ## make a kind cluster with Kueue and the driver and keep it: CLUSTER=kueue-dra-dev
	@$(BIN)/kueue-dra cluster up --name $(CLUSTER) --images $(IMAGES) --nodes $(NODES) --kueue $(KUEUE)

.PHONY: cluster-down
cluster-down: $(VENV)/.e2e ## delete it, and whatever a killed run has left
	@$(BIN)/kueue-dra cluster down

.PHONY: compare
compare: $(VENV)/.dev ## do the reports of `make conformance` and `make live` differ in the target and durations only?
	@$(BIN)/kueue-dra report diff out/reference/report.json out/kueue/report.json

.PHONY: test
test: $(VENV)/.dev ## the project's own tests, and the proof that the suite can fail
	@$(PYTEST) -q tests -m "not live" -n auto $(ARGS)

.PHONY: check
check: $(VENV)/.dev ## format, lint, types, layers, catalogue
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m tests.requirements_page | diff -q - docs/reference/requirements.md >/dev/null || { echo "docs/reference/requirements.md is stale; run: make docs"; exit 1; }
	@$(BIN)/python -m kueue_dra_reports.changes_page | diff -q - docs/reference/texts.md >/dev/null || { echo "docs/reference/texts.md is stale; run: make docs"; exit 1; }
	@$(BIN)/python -m tests.selectors_page | diff -q - docs/reference/selectors.md >/dev/null || { echo "docs/reference/selectors.md is stale; run: make docs"; exit 1; }
	@echo "check: clean"

.PHONY: words
words: $(VENV)/.dev ## find words that are no plain Kubernetes English, with what to say instead (tests/words.py)
	@$(BIN)/python -m tests.words $(ARGS)

.PHONY: format
format: $(VENV)/.dev ## rewrite the sources in the project's format
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .

.PHONY: docs
docs: $(VENV)/.dev ## regenerate the pages in docs/reference
	@$(BIN)/python -m tests.requirements_page > docs/reference/requirements.md
	@$(BIN)/python -m kueue_dra_reports.changes_page > docs/reference/texts.md
	@$(BIN)/python -m tests.selectors_page > docs/reference/selectors.md

.PHONY: bench
bench: $(VENV)/.dev ## how the cost of a decision grows, and what a selector costs over many devices
	@$(BIN)/python -m tests.bench

.PHONY: lock
lock: ## resolve locks/ anew (needs uv)
	@uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -o locks/run.txt
	@uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -c locks/run.txt -o locks/dev.txt
	@uv pip compile pyproject.toml --extra dev --extra e2e --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -c locks/dev.txt -o locks/e2e.txt

.PHONY: clean
clean: ## remove .venv and out/; the cache of built binaries stays (see docs/how-to/run-on-a-real-kueue.md)
	@rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis
