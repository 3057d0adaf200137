# Uketsuke. `make` alone lists the targets.
.DEFAULT_GOAL := help
BIN := .venv/bin
export PATH := $(CURDIR)/$(BIN):$(PATH)
PYTHONS := src tests scripts bench
SCRIPTS := "src/**/*.mjs" "tests/**/*.mjs" "assets/**/*.{js,css,html}" "!assets/console/vendor/**"

.PHONY: help setup demo dev test check pytest pytest-counted pytest-running pytest-shown pytest-played format lock simulate mutate bench chaos clean

help: ## list the targets
	@grep -E '^[a-z]+:.*##' Makefile | sed -E 's/:.*## / - /'

setup: ## build .venv and node_modules; quick when nothing changed
	@command -v python3 >/dev/null || { echo "setup: python3 is missing" >&2; exit 1; }
	@python3 scripts/setup.py

demo: setup ## show every kind of job from end to end
	@$(BIN)/python -m uketsuke_local.demo

dev: setup ## run the stack in the foreground until Ctrl-C
	@exec $(BIN)/uketsuke dev

test: setup check pytest ## all that CI runs

check: ## format, lint, types, layers
	$(BIN)/ruff format --check $(PYTHONS)
	$(BIN)/ruff check $(PYTHONS)
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	node_modules/.bin/prettier --check --log-level warn $(SCRIPTS)
	node_modules/.bin/tsc --project jsconfig.json

# Two at once: who waits for a stack to start or a lease to end leaves the core to the other. The
# histories are not counted: it would double their time, and what they reach has tests of its own.
COUNTED := tests/unit tests/providers tests/contract tests/models tests/docs tests/simulation/test_found.py
PLAYED := tests/simulation
SHOWN := tests/console
RUNNING := $(filter-out $(COUNTED) $(PLAYED) $(SHOWN) tests/support tests/__pycache__,$(patsubst %/,%,$(wildcard tests/*/)))

pytest:
	@$(MAKE) --no-print-directory -j2 --output-sync=line pytest-counted pytest-running pytest-shown pytest-played
	$(BIN)/coverage report

pytest-counted:
	PYTHONUNBUFFERED=1 $(BIN)/coverage run -m pytest $(COUNTED)

pytest-running:
	PYTHONUNBUFFERED=1 $(BIN)/pytest -o cache_dir=.pytest_cache/running $(RUNNING)

pytest-shown:
	PYTHONUNBUFFERED=1 $(BIN)/pytest -o cache_dir=.pytest_cache/shown $(SHOWN)

pytest-played:
	PYTHONUNBUFFERED=1 $(BIN)/pytest -o cache_dir=.pytest_cache/played \
	  --ignore=tests/simulation/test_found.py $(PLAYED)

format: ## put everything into shape
	$(BIN)/ruff check --fix $(PYTHONS)
	$(BIN)/ruff format $(PYTHONS)
	node_modules/.bin/prettier --write --log-level warn $(SCRIPTS)

simulate: setup ## run many more histories: make simulate SEEDS=1-100000
	$(BIN)/python -m tests.simulation --seeds $(or $(SEEDS),1-20000)

mutate: setup ## break the product guard by guard, and see the simulator notice each
	$(BIN)/python -m tests.simulation.mutations

bench: setup ## print the measurements that the documents quote
	$(BIN)/python -m bench.vectors_memory
	$(BIN)/python -m bench.dead_letters
	$(BIN)/python -m bench.metrics
	$(BIN)/python -m bench.doctor_rows
	$(BIN)/python -m bench.console

chaos: setup ## a longer storm of power cuts and faults: make chaos ROUNDS=50
	CHAOS_ROUNDS=$(or $(ROUNDS),50) $(BIN)/pytest tests/chaos

lock: ## renew the locks after a change of pyproject.toml, requirements/*.in or package.json
	$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --generate-hashes --no-emit-index-url --no-emit-find-links --no-header -q -o requirements/dev.txt
	$(BIN)/uv pip compile requirements/worker.in --python-platform wasm32-pyodide2025 \
	  --python-version 3.14 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header -q \
	  -o requirements/worker.txt
	$(BIN)/npm install --package-lock-only --ignore-scripts

clean: ## remove what set-up made
	rm -rf .venv node_modules python_modules assets/console/vendor artefacts .cache
