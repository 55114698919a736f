# "make" alone lists the targets.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build docs test check check-worker check-others check-sidebyside check-parts mutants setup lint words tidy oldest race purego cross processors fuzz long citus stats bench bench-sketch bench-sqlite bench-growth bench-growth-postgres bench-passages bench-postgres bench-checkins bench-dedup sidebyside bulk demo dist freeze clean build/alike.so build/pgworker build/bin/alike

# Tests and what is built share compiled packages, in every clone.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

MODULES = . examples/internal/sidebyside
FUZZTIME ?= 30s
PROCESSES ?=
EXECUTIONS ?= 0
DOCUMENTS ?= 100000
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT = github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 16

build: build/alike.so build/pgworker build/bin/alike ## the SQLite extension build/alike.so, the worker build/pgworker, the command build/bin/alike

# mv replaces the name, so a program that has the old file loaded keeps the old file. From a
# copy of that file go build sees that nothing has changed, and does not link.
build/alike.so:
	@mkdir -p build
	new=build/.alike.$$$$; [ ! -e $@ ] || cp $@ $$new; \
	go build -trimpath -buildmode=c-shared -ldflags='-s -w -extldflags=-Wl,--version-script=$(CURDIR)/sqlext/loadable/exports.map' -o $$new ./sqlext/loadable; \
	mv $$new $@; rm -f $$new.h

build/pgworker:
	go build -trimpath -ldflags='-s -w' -o $@ ./pgworker

build/bin/alike:
	go build -trimpath -ldflags='-s -w' -o $@ ./sqlext/alike

# SQLite waits for the disk at each commit, so temporary files are in memory where that has twelve
# gigabytes to spare and programs can run from it.
test: setup build ## everything that CI runs; installs what it needs first
	@if [ -z "$${TMPDIR:-}" ] && [ "$$(df --output=avail /dev/shm 2>/dev/null | tail -n 1)" -gt 12000000 ] 2>/dev/null; then \
	  memory=$$(mktemp -d /dev/shm/alikeXXX); trap "rm -rf $$memory" EXIT; chmod 1777 $$memory; \
	  install /bin/true $$memory && $$memory/true && export TMPDIR=$$memory || true; \
	fi; \
	$(MAKE) -j3 --no-print-directory check race oldest processors purego lint cross fuzz FUZZTIME=500x PROCESSES=1

# The worker's tests take longest, since they wait for servers: they start first, and what runs beside
# them gives way. Three packages at once, since others wait too, and those that take longest first.
check: check-worker check-others check-sidebyside check-parts ## the tests of every module; lint vets them
check-worker:
	go test -vet=off -parallel 4 -timeout 3h ./pgworker/worker
check-others:
	nice -n 5 go test -vet=off -p 3 -parallel 4 -timeout 3h ./sqlext ./examples/internal/engines ./sqlext/packages ./migrations ./examples/internal/doctest $$(go list ./... | grep -v /pgworker/worker$$)
check-parts:
	nice -n 5 go test -vet=off -timeout 3h -short ./sqlext -run 'HardenedLimits|Verdicts|Matches|ChangedSchemas|Damaged|Dropped' -args -layout parts
check-sidebyside:
	nice -n 5 go test -C examples/internal/sidebyside -vet=off -timeout 3h ./...

setup: ## install what the tests need (Debian)
	.ci/setup

lint: words ## gofmt, vet, staticcheck, go.mod, shellcheck, actionlint, words
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "gofmt would change: $$files"; exit 1; }
	@for m in $(MODULES); do cd $(CURDIR)/$$m; echo "$$m: go vet, staticcheck, go mod tidy"; \
	  go vet ./...; go run $(STATICCHECK) ./...; go mod tidy -diff; done
	go vet -tags citus ./pgworker/worker
	go run .ci/mutants/mutants.go -show -lists $(MUTANT_LISTS) >/dev/null # each change still has its place
	go run $(ACTIONLINT)
	shellcheck -S warning $$(git grep -lE '^#!.*[/ ](ba)?sh$$')

# Texts that others wrote, and data, are exempt.
words: ## the phrases of .ci/words, which nothing here should say
	@! git grep -nwiI -F -f .ci/words -- ':!.ci/words' ':!LICENSE' ':!*.json' ':!*.svg' ':!**/testdata/**' ':!examples/*/collection/*' \
	  ':!examples/documentum/office/*' ':!sqlext/**/sqlite3*.h' | grep -vi 'there is nothing' || { echo "say it in other words: subject, verb, object"; exit 1; }

tidy: ## update go.mod and go.sum of every module, after a change of imports
	@for m in $(MODULES); do (cd $$m && go mod tidy); done

# The tests in which several goroutines or connections work at once.
race: ## the short tests with several goroutines, under the race detector
	nice -n 5 go test -vet=off -timeout 3h -race -run 'Concurrent|AreShared' ./sketch ./sketch/internal/... ./sketch/simindex
	nice -n 5 go test -vet=off -timeout 3h -race -short -run 'AtOnce|Interrupt|Turn|ManyConnections' ./sqlext
	nice -n 5 go test -vet=off -timeout 3h -race -short -run 'AtOnce|Concurrent|RunWakes|ScanMode|Locks|ReadOnly|Process|ManyClients|Warn|BesideWorker$$|WhileReading' ./pgworker/worker
	nice -n 5 go test -vet=off -timeout 3h -race -short ./sketch/extract

# Without what many rows cost, which does not depend on the release.
oldest: ## the extension in SQLite 3.31.1, the oldest that it supports
	@mkdir -p build
	cp go.mod build/oldest.mod; cp go.sum build/oldest.sum; go mod edit -require=github.com/mattn/go-sqlite3@v2.0.3+incompatible build/oldest.mod
	nice -n 5 go test -vet=off -modfile=build/oldest.mod -mod=mod -tags 'json1 sqlite_introspect' ./sqlext -run 'Functions|Cases|Polic|Checkin|Match|Agree|Pairs|Change|Errors|Names|Flags' -skip 'PairsInFiles|OfACrowd|IntoACrowd' -args -statements 30

# What a processor can make differ: the packages that call kernels, and their tests of kernels and of stored bytes.
PORTABLE = -short -run 'Golden|Kernel|AsciiWords|RoundTrip' ./sketch ./sketch/internal/kernel ./sketch/internal/token ./sketch/simindex

purego: ## the golden vectors and the kernels without assembly
	nice -n 5 go test -vet=off -tags purego $(PORTABLE)

cross: ## the pure Go parts build for other systems
	@for os in linux darwin windows; do \
	  echo "GOOS=$$os GOARCH=arm64 go build ./sketch/... ./pgworker/..."; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=arm64 go build ./sketch/... ./pgworker/...; \
	done

processors: ## the golden vectors and the kernels on emulated arm64 and s390x (big-endian)
	@for p in arm64/aarch64 s390x/s390x; do \
	  echo "GOARCH=$${p%/*} go test -exec qemu-$${p#*/}"; \
	  CGO_ENABLED=0 GOARCH=$${p%/*} nice -n 5 go test -vet=off -exec "qemu-$${p#*/}" $(PORTABLE); \
	done

# With EXECUTIONS the targets take turns until their executions add up to that.
fuzz: ## every fuzz target for FUZZTIME (30s, or 500x executions); EXECUTIONS=100000000 counts them instead, CORPUS=folder keeps what they find
	go run .ci/fuzz/fuzz.go -time $(FUZZTIME) $(PROCESSES:%=-processes %) -executions $(EXECUTIONS) -corpus '$(CORPUS)'

long: ## the long forms of tests: ten million documents clustered in 256 MB, hundreds of kills
	ALIKE_DOCUMENTS=10000000 ALIKE_MEMORY=268435456 go test -timeout 60m -v -run '^TestClusterMemory$$' ./sketch/cluster
	ALIKE_ENTRIES=5000000 go test -timeout 60m -v -run '^TestManyEntries$$' ./pgworker/worker
	go test -timeout 60m -v -run '^TestCrowd$$' ./sketch/report -args -rows 100000
	ALIKE_KILLS=300 go test -timeout 60m -v -run '^TestKills$$' ./pgworker/worker
	go test -timeout 4h -run '^TestModel$$' ./pgworker/worker -args -kills 334
	go test -timeout 4h -run '^(TestModel|TestCheckinIsExact)$$' ./sqlext -args -schemas 1000 -statements 200
	go test -timeout 4h -run '^TestKills$$' ./sqlext -args -kills 1000
	go test -timeout 4h ./pgworker/worker ./migrations -args -releases
	go test -timeout 4h -tags purego ./sketch/...
	go test -timeout 4h -short ./sqlext -args -layout parts
	go test -timeout 4h -run '^TestFaults$$' ./sqlext -args -asan -density 40
	go test -timeout 4h -run '^TestHostileFile$$' ./sqlext -args -hostile
	go test -timeout 4h -run '^TestMutatedSketches$$' ./sqlext -args -mutations 1000000
	$(MAKE) --no-print-directory fuzz FUZZTIME=60s EXECUTIONS=100000000 CORPUS=build/corpus
	go test -timeout 4h -run '^TestPackages$$' ./sqlext/packages -args -commands
	$(MAKE) --no-print-directory dist
	go test -timeout 4h -run '^TestInstalled$$' ./pgworker ./sqlext/packages -args -dist $(CURDIR)/build/dist

docs: ## the pages as a site with a search, into build/docs
	.ci/setup docs browser
	go test -count 1 -run '^TestSite$$' ./examples/internal/doctest -args -site $(CURDIR)/build/docs

citus: ## Citus gives the answers of one PostgreSQL while nodes are killed: CITUS=folder of its programs DOCUMENTS=100000
	ALIKE_CITUS=$(CITUS) ALIKE_DOCUMENTS=$(DOCUMENTS) go test -tags citus -timeout 4h -v -run '^TestCitus' ./pgworker/worker

stats: ## the estimators compared with exact values, the long form with its tables (a quarter of an hour)
	go test -timeout 5h -v -run '^TestStatistics' ./sketch -args -long

bench: ## the benchmarks of the library
	go test -run '^$$' -bench . -benchmem ./sketch/...

bench-sqlite: ## the cost of the SQLite extension: its functions, and an attached table of a million rows
	go run ./sqlext/bench

GROWTH ?= 10000,100000,1000000
UPDATES ?= 0
bench-growth: ## checkins a second and bytes written a row as a SQLite table grows, in both layouts, and after UPDATES changes of rows (10000000 takes a night)
	go run ./sqlext/bench -cache 2 -growth $(GROWTH) -updates $(UPDATES)
	go run ./sqlext/bench -cache 2 -growth $(GROWTH) -transaction 1

bench-growth-postgres: ## the same of PostgreSQL, with the features of PROFILE (GROWTH=10000,100000 takes minutes; 30 GB of disk for 10000000)
	ALIKE_GROWTH=$(GROWTH) ALIKE_UPDATES=$(UPDATES) ALIKE_PROFILE="$(PROFILE)" go test ./pgworker/worker -run '^$$' -bench Growth -benchtime 1x -timeout 48h

PASSAGES ?= 100000
bench-passages: ## recall of passages of 20 to 300 words in rows of 2.6 KB, true answers and milliseconds, in both engines
	go run ./sqlext/bench -passages $(PASSAGES)
	ALIKE_ROWS=$(PASSAGES) go test ./pgworker/worker -run '^$$' -bench Passages -benchtime 1x -timeout 60m

bench-postgres: ## the worker and the questions at a million rows, beside lower bounds
	go test ./pgworker/worker -run '^$$' -bench Postgres -benchtime 1x -timeout 60m

bench-checkins: ## what the triggers add to statements of 1 to a million rows, and how soon a row is sketched
	go test ./pgworker/worker -run '^$$' -bench 'Checkins|Delay' -benchtime 1x -timeout 60m

bench-sketch: ## MB/s from text to features, with each kernel of this machine
	go test -run '^$$' -bench '^BenchmarkTable$$' -benchtime 1x -cpu 1 ./sketch

PEERS ?= $(firstword $(wildcard $(ALIKE_CACHE)/sidebyside/bin/python /var/cache/alike/sidebyside/bin/python $(HOME)/.cache/alike/sidebyside/bin/python) python3)
bench-dedup: build/bin/alike ## DOCUMENTS lines deduplicated by alike, datasketch, text-dedup and sort -u; ".ci/setup sidebyside" installs them
	$(PEERS) examples/internal/sidebyside/peers/dedup.py $(DOCUMENTS) build/bin/alike

# Every contender on the short documents; on the others the contenders that finish; then growth, and pg_trgm up to its limit.
SIDEBYSIDE = go run -C examples/internal/sidebyside . -keep
FINISH = ^alike|^DuckDB|datasketch$$|rensa$$|gaoya|ClickHouse|ekzhu|BottomK
sidebyside: ## measure quality, speed and growth beside the peers, into examples/internal/sidebyside/results (an hour and a half, idle, 30 GB of disk)
	go run -C examples/internal/sidebyside . -collections short -documents 1000000 -limit 1m
	$(SIDEBYSIDE) -collections long -documents 1000000 -limit 1m -only '$(FINISH)'
	$(SIDEBYSIDE) -collections real,modules -limit 1m -only '$(FINISH)'
	$(SIDEBYSIDE) -collections growth -sizes 10000,100000,1000000,10000000 -only '^alike (SQLite|PostgreSQL)(, parts)?$$' -limit 15m
	$(SIDEBYSIDE) -collections growth -sizes 10000,100000,1000000 -only '^pg_trgm GIN$$' -limit 15m

bulk: ## compare the rows of the portable queries on DuckDB and on a Spark cluster of two executors with PostgreSQL's
	.ci/setup sidebyside
	go test -C examples/internal/sidebyside -timeout 30m -count 1 -v -run '^TestBulk$$' . -args -engines duckdb,spark -documents 20000

# Takes hours: each change runs the short tests of its package. MUTANTS is the number of changes drawn from each.
MUTANTS ?= 60
MUTANT_LISTS = $(filter-out %/explained.list,$(wildcard .ci/mutants/*.list))
mutants: ## changes the source in one place at a time and counts those that the tests notice
	nice go run .ci/mutants/mutants.go -lists $(MUTANT_LISTS)
	nice go run .ci/mutants/mutants.go -n $(MUTANTS) ./sketch/... ./sqlext

demo: ## run the quickstart in SQLite
	go run ./examples/quickstart

NFPM = github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.44.2
SOURCE_VERSION := $(shell sed -n 's/^const Version = "\(.*\)"/\1/p' sketch/version.go)
VERSION ?= $(SOURCE_VERSION)
ZIG ?= $(firstword $(wildcard $(ALIKE_CACHE)/packages/zig /var/cache/alike/packages/zig $(HOME)/.cache/alike/packages/zig) zig)
dist: ## every package into build/dist, of the version in sketch/version.go; ".ci/setup packages" installs what it needs
	@[ "$(VERSION)" = "$(SOURCE_VERSION)" ] || { echo "sketch/version.go says $(SOURCE_VERSION), VERSION is $(VERSION)"; exit 1; }
	mkdir -p build/dist
	rm -f build/dist/*.*
	for p in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do \
	  suffix=; [ $${p%/*} != windows ] || suffix=.exe; \
	  CGO_ENABLED=0 GOOS=$${p%/*} GOARCH=$${p#*/} go build -buildvcs=auto -trimpath -ldflags='-s -w -buildid=' -o build/dist/pgworker-$${p%/*}-$${p#*/}$$suffix ./pgworker; \
	done
	go test -count 1 -run '^TestManPages$$' ./pgworker -args -man $(CURDIR)/build/man
	go test -count 1 -run '^TestManPages$$' ./sqlext/alike -args -man $(CURDIR)/build/man/alike
	GOBIN=$(CURDIR)/build/tools go install $(NFPM)
	for arch in amd64 arm64; do for kind in deb rpm; do \
	  GOARCH=$$arch VERSION=$(VERSION) build/tools/nfpm package -f pgworker/deploy/nfpm.yaml -p $$kind -t build/dist; \
	done; done
	go run ./sqlext/packages -zig $(ZIG) -worker build/dist/pgworker-linux-amd64 -man build/man/alike -o build/dist

freeze: ## what a release freezes: migrations/frozen.txt, and databases that every later release has to read
	go test -count 1 -run '^TestReleasedFilesAreFrozen$$' ./migrations
	mkdir -p build sqlext/testdata/releases pgworker/worker/testdata/releases
	{ grep '^#' migrations/frozen.txt; cd migrations; sha256sum 0*.sql; } >build/frozen.txt
	mv build/frozen.txt migrations/frozen.txt
	go test -count 1 -run '^TestReleases$$' ./sqlext ./pgworker/worker -args -freeze

clean: ## remove build/
	rm -rf build
