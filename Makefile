# Every target is one plain command, `python -m tools TARGET`, for systems without make.
# Another Python than the first one found: make book PYTHON=python3.12

ifdef PYTHON
export COURSE_PYTHON := $(PYTHON)
START := $(shell command -v "$(PYTHON)" 2>/dev/null)
else
START := $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	command -v $$p 2>/dev/null && break; done)
endif

.NOTPARALLEL:
.PHONY: help book lab test test-slow notebooks requirements env clean

help:
	@echo "make book          build the site and say which page to open"
	@echo "make lab           open the chapters as notebooks in JupyterLab"
	@echo "make test          check everything that must hold (five to twelve minutes)"
	@echo "make test-slow     run the checks that take longer"
	@echo "make notebooks     run all chapters again and store their outputs"
	@echo "make requirements  renew requirements.txt within the ranges of pyproject.toml"
	@echo "make env           only make or mend the environment .venv"
	@echo "make clean         remove what was built; the environment .venv stays"
	@echo "Options:           make lab OPTIONS=\"--no-browser --port 9000\""
	@echo "Another Python:    make book PYTHON=python3.12"

book lab test test-slow notebooks requirements env clean:
	@test -n "$(START)" || { echo "No $(or $(PYTHON),Python) was found: the course needs Python 3.11, 3.12 or 3.13." >&2; exit 1; }
	@"$(START)" -m tools $@ $(OPTIONS)
