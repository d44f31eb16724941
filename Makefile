# Two commands on a fresh machine: make run, make test. Both do all set-up first.
.DEFAULT_GOAL := help
.PHONY: help run test check unit format bench bench-intents fuzz clean
export PYTHON

help: ## what can be done here
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile

run: ## talk to the assistant; lines on standard input are answered one by one
	@scripts/setup run </dev/null
	@exec .venv/bin/hark run $(ARGS)

test: check unit ## everything that must hold: lint, types, layers, all tests

check:
	@scripts/setup dev </dev/null
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

unit:
	@scripts/setup dev </dev/null
	@scripts/tests $(ARGS)

format: ## put the code in order
	@scripts/setup dev </dev/null
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

bench: ## compare with ovos-core, side by side (installs it into a venv of its own)
	@scripts/setup dev </dev/null
	.venv/bin/python benchmarks/turns.py $(ARGS)

bench-intents: ## compare the intent engines; ARGS="all --data FOLDER --write" for accuracy as well
	@scripts/setup dev </dev/null
	.venv/bin/python benchmarks/intents/run.py $(or $(ARGS),speed)

fuzz: ## throw bytes at the codec and the session reader for a minute each, guided by coverage
	@scripts/setup dev </dev/null
	.venv/bin/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	.venv/bin/python fuzz/run.py --seconds 60 $(ARGS)

clean: ## remove what set-up made
	rm -rf .venv .coverage benchmarks/.venvs benchmarks/intents/.cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
