# make demo: set up, index the samples, ask the real server. make test: set up, run all checks.
PYTHON ?= python3
BIN := .venv/bin
CLIENTS := tests/clients
BROWSER := tests/browser
OPENSEARCH := tests/opensearch
LUPYNE := tests/pylucene/lupyne
CORPUS := tests/corpus
PYLUCENE := $(shell find pylucene -type f -not -path '*/__pycache__/*')
E5 := $(wildcard deployment/e5/*.*)

# An environment of its own, for what may need other versions of packages.
define environment
rm -rf $(@D)
$(PYTHON) -m venv $(@D)
$(@D)/bin/python -m pip install --quiet --require-hashes --no-deps -r $(1)
endef

# SHA256SUMS of all that is in dist, in an order that is the same everywhere.
sums = cd dist && rm -f SHA256SUMS && export LC_ALL=C && sha256sum -- * >SHA256SUMS

# Programs start faster if Python keeps what it has compiled, whatever the shell has set.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test quick check soak clients browser opensearch pictures coverage wheels bundles image installed debian windows arm lock docs site bench bench-quick

demo: .venv/ready
	$(BIN)/python test-index/demo.py

# The checks run beside the tests and are shown after them.
test: .venv/trained
	@mkdir -p build
	@$(MAKE) --no-print-directory check >build/check.log 2>&1 & checks=$$!; \
	$(BIN)/pytest; tests=$$?; \
	wait $$checks; checks=$$?; cat build/check.log; exit $$((tests | checks))

# In under a minute, while something is being changed: all checks, and the tests of what changed.
quick: .venv/trained check
	tests=$$($(BIN)/python -m tests.changed) && $(BIN)/pytest --exitfirst $$tests

# The tests that take long, by themselves or with their like, and every run of the programs as a
# process of its own.
soak: .venv/trained dist/SHA256SUMS dist/server.json $(LUPYNE)/.venv/ready $(OPENSEARCH)/.venv/ready $(CORPUS)/.venv/ready
	MCP_LUCENE_PROCESSES=1 $(BIN)/pytest -m "not clients and not browser and not opensearch or soak"

# lupyne, a program that others have written for PyLucene, and the sources of its tests.
$(LUPYNE)/.venv/ready: .venv/pylucene $(wildcard $(LUPYNE)/*.txt)
	$(call environment,$(LUPYNE)/requirements.txt)
	$(@D)/bin/python -m pip install --quiet --no-deps ./pylucene
	for sources in tests texts; do \
		$(@D)/bin/python -m pip download --quiet --require-hashes --no-deps --no-binary=lupyne \
			--no-build-isolation --dest $(@D)/sources -r $(LUPYNE)/$$sources.txt || exit 1; \
	done
	touch $@

# The source packages of public projects, whose test files are read.
$(CORPUS)/.venv/ready: $(CORPUS)/requirements.txt $(CORPUS)/sources.txt
	$(call environment,$(CORPUS)/requirements.txt)
	$(@D)/bin/python -m pip download --quiet --require-hashes --no-deps --no-binary=:all: \
		--no-build-isolation --dest $(@D)/sources -r $(CORPUS)/sources.txt
	touch $@

# Other people's clients; without npm only those that need none.
clients: .venv/trained $(CLIENTS)/python/.venv/ready $(if $(shell command -v npm),$(CLIENTS)/node/node_modules/.package-lock.json)
	$(BIN)/pytest -m clients

# They may need other versions than the server does, so that each has an environment of its own.
$(CLIENTS)/python/.venv/ready: $(CLIENTS)/python/requirements.txt
	$(call environment,$<)
	touch $@

# Node is among the packages.
$(CLIENTS)/node/node_modules/.package-lock.json: $(CLIENTS)/node/package-lock.json
	npm clean-install --prefix $(CLIENTS)/node --ignore-scripts --no-audit --no-fund --loglevel=error
	touch $@

# The pages in a browser: Debian's chromium, installed by apt-get if this is root's machine.
browser: .venv/trained $(BROWSER)/.venv/ready
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || \
		{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium; } || \
		echo "There is no chromium, and apt-get cannot install it: the tests in a browser are skipped" >&2
	$(BIN)/pytest -m browser $(BROWSER)

# Indexes on nodes of OpenSearch, whose jars are downloaded once.
opensearch: .venv/trained $(OPENSEARCH)/.venv/ready
	$(BIN)/pytest -n 0 -m "opensearch and not soak" $(OPENSEARCH)

# jgo downloads the jars, as those of PyLucene; no compiler is needed.
$(OPENSEARCH)/.venv/ready: pylucene/requirements/tools.txt
	@mkdir -p build
	sed '/^ziglang==/,/# via/d' $< >build/opensearch.txt
	$(call environment,build/opensearch.txt)
	touch $@

# The pictures of the documentation, in docs/pictures.
pictures: .venv/ready $(BROWSER)/.venv/ready
	PICTURES=1 $(BIN)/pytest -n 0 -m browser $(BROWSER)/test_pictures.py

$(BROWSER)/.venv/ready: $(BROWSER)/requirements.txt
	$(call environment,$<)
	touch $@

# The test suite again, half as fast, with the lines and branches that it leaves out.
coverage: .venv/trained
	$(BIN)/coverage run -m pytest
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

check: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The set-up is done again only when one of its inputs changes. Python compiles what it runs: to
# compile everything in advance takes as long as the rest. uv takes a fifth of pip's time, but reads
# no settings of pip's, such as a package index of one's own.
.venv/tools: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mcp-lucene needs Python 3.11 or newer; run: make PYTHON=python3.11")'
	@$(PYTHON) -c 'import ensurepip, venv' || { echo "Python lacks venv; on Debian: apt install python3-venv" >&2; exit 1; }
	rm -rf .venv
	$(PYTHON) -m venv .venv
	sed -n '/^uv==/,/# via/p' requirements.txt > .venv/uv.txt
	$(BIN)/python -m pip install --quiet --require-hashes --no-deps --no-compile -r .venv/uv.txt
	$(BIN)/uv pip install --quiet --python .venv --require-hashes --no-deps -r requirements.txt || \
		$(BIN)/python -m pip install --quiet --require-hashes --no-deps --no-compile -r requirements.txt
	touch $@

# A wheel that make wheels has built of the same sources is taken from dist.
.venv/pylucene: .venv/tools $(PYLUCENE)
	PYLUCENE_WHEELS="$(CURDIR)/dist" $(BIN)/python -m pip install --quiet --no-deps --force-reinstall ./pylucene
	touch $@

# The sentence model; onnxruntime has no wheels for Macs with Intel processors.
.venv/e5: .venv/tools $(E5)
	! $(BIN)/python -c 'import onnxruntime' || { \
		rm -rf build/e5 && $(BIN)/python -m deployment.e5 build/e5 && \
		$(BIN)/python -m pip install --quiet --no-deps --force-reinstall build/e5/*.whl; }
	touch $@

# Beside each other, as a part of PyLucene's build has work for one core only.
.venv/ready: .venv/tools $(PYLUCENE) $(E5) pyproject.toml
	@$(MAKE) --no-print-directory --jobs=2 .venv/pylucene .venv/e5
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

# The start-up cache of Java, which otherwise the first command makes in the background.
.venv/trained: .venv/ready shared/maintenance/train_startup.py shared/java/startup_cache.py shared/java/vm.py
	$(BIN)/python -m shared.maintenance.train_startup
	touch $@

# All that is published, in dist: wheels of all platforms, source distributions and their hashes.
wheels: .venv/ready build/release-tools/ready
	rm -rf dist
	cd pylucene && "$(CURDIR)/$(BIN)/python" -m backend.release "$(CURDIR)/dist"
	PYTHONPATH=pylucene $(BIN)/python -m deployment.pycld2 dist
	$(BIN)/python -m deployment.e5 dist
	build/release-tools/bin/python -m deployment.english build/english
	cd build/english && "$(CURDIR)/$(BIN)/hatchling" build --target wheel --directory "$(CURDIR)/dist"
	$(BIN)/hatchling build --target sdist --target wheel --directory dist
	PYTHONPATH=pylucene build/release-tools/bin/python -m deployment.release dist
	$(sums)

# Bundles with everything inside, of the wheels in dist and beside them.
bundles: dist/SHA256SUMS build/release-tools/ready
	PYTHONPATH=pylucene build/release-tools/bin/python -m deployment.bundle dist
	$(sums)

# The container image of the same wheels, as an OCI archive, by podman.
image: dist/SHA256SUMS
	podman build --tag mcp-lucene --file deployment/Containerfile .
	podman save --format oci-archive --output dist/mcp-lucene.oci.tar mcp-lucene
	$(sums)

# The wheels in dist as they are installed on this system, with the tests that hold on it.
installed:
	$(PYTHON) -m tests.installed $(TESTS)

# The same on Windows' Python under Wine, and a part of it on that of 64-bit Arm under qemu.
windows arm: .venv/ready
	$(BIN)/python -m tests.elsewhere $@ $(TESTS)

# The same on another release of Debian, with its Python, by root: make debian SUITE=sid
SUITE ?= trixie
debian: .venv/ready dist/SHA256SUMS
	$(BIN)/python -m tests.elsewhere.debian $(SUITE) $(TESTS)

dist/SHA256SUMS:
	$(MAKE) wheels

dist/server.json:
	$(MAKE) bundles

build/release-tools/ready: deployment/release/requirements.txt
	$(call environment,$<)
	touch $@

# Pin what pyproject.toml and each requirements.in ask for, with hashes. With UPGRADE=--upgrade these
# are the newest versions, otherwise those that are pinned already, where they are allowed.
COMPILE = $(BIN)/uv pip compile $(UPGRADE) --universal --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" --quiet

lock: .venv/ready
	$(COMPILE) pyproject.toml --group dev --no-emit-package pylucene --output-file requirements.txt
	$(COMPILE) pyproject.toml --constraints requirements.txt --no-emit-package pylucene \
		--no-emit-package pycld2 --output-file deployment/requirements.txt
	$(COMPILE) deployment/pycld2/requirements.in --python-version 3.11 --constraints requirements.txt \
		--output-file deployment/pycld2/requirements.txt
	$(COMPILE) deployment/build.in --python-version 3.11 --constraints requirements.txt \
		--output-file deployment/build.txt
	$(COMPILE) deployment/release/requirements.in --python-version 3.11 \
		--constraints pylucene/requirements/tools.txt --output-file deployment/release/requirements.txt
	for folder in $(CLIENTS)/python $(LUPYNE) $(CORPUS) $(BROWSER) docs/site; do \
		$(COMPILE) $$folder/requirements.in --python-version 3.11 \
			--output-file $$folder/requirements.txt || exit 1; \
	done

# Write the reference of idx from its own help.
docs: .venv/ready
	$(BIN)/typer idx.app utils docs --name idx --title "Commands of idx" --output docs/commands.md
	{ printf '%s\n' '# mcp-lucene' '' \
		'> Private, offline search over the documents of a person or an office, on Apache Lucene:' \
		'> `idx` makes and keeps an index, and the MCP server `mcp-lucene` gives it to AI assistants.'; \
		tail -n +4 docs/index.md; } >docs/llms.txt

# The documentation as HTML in build/site, to be read without a network; a broken link is an error.
site: build/site-tools/ready
	rm -rf build/site
	build/site-tools/bin/sphinx-build --fail-on-warning --keep-going --quiet \
		--conf-dir docs/site --doctree-dir build/site-tools/doctrees . build/site
	@echo "Built build/site/index.html"

build/site-tools/ready: docs/site/requirements.txt
	$(call environment,$<)
	touch $@

# Measure on an idle machine; the results go into docs/measured/. Vectors have figures of their own.
bench bench-quick: export IDX_SEMANTIC = off
bench: .venv/trained
	$(BIN)/python -m benchmarks.start_up
	$(BIN)/python -m benchmarks.freshness
	$(BIN)/python -m benchmarks.search
	$(BIN)/python -m benchmarks.bounds
	$(BIN)/python -m benchmarks.folders
	$(BIN)/python -m benchmarks.pdf
	$(BIN)/python -m benchmarks.ocr
	$(BIN)/python -m benchmarks.relevance

# Whether this project has become slower or larger beside plain Lucene, in under a minute.
bench-quick: .venv/trained
	$(BIN)/python -m benchmarks.engines
