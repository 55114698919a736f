# The verbs; "make" alone lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build test mutants setup lint tidy oldest race purego cross processors fuzz long citus stats bench bench-sketch bench-sqlite bench-postgres sidebyside bulk demo clean build/alike.so build/pgworker

MODULES = . examples/internal/sidebyside
FUZZTIME ?= 30s
DOCUMENTS ?= 100000
STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

build: build/alike.so build/pgworker ## the SQLite extension build/alike.so and the worker build/pgworker

# A program that has the old file loaded keeps it: the new one takes its name, not its place.
build/alike.so:
	@mkdir -p build
	new=build/.alike.$$$$; \
	go build -trimpath -buildmode=c-shared -ldflags='-s -w -extldflags=-Wl,--version-script=$(CURDIR)/sqlext/loadable/exports.map' -o $$new ./sqlext/loadable; \
	mv $$new $@; rm -f $$new.h

build/pgworker:
	go build -trimpath -ldflags='-s -w' -o $@ ./pgworker

test: setup lint build ## everything that CI runs; installs what it needs first
	@for m in $(MODULES); do echo "$$m: go test ./..."; go test -C $$m -timeout 3h ./...; done
	$(MAKE) --no-print-directory purego oldest race cross processors
	$(MAKE) --no-print-directory fuzz FUZZTIME=3s

setup: ## install what the tests need (Debian)
	.ci/setup

lint: ## gofmt, vet, staticcheck, go.mod, shellcheck
	@files=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$files" ] || { echo "gofmt would change: $$files"; exit 1; }
	@for m in $(MODULES); do cd $(CURDIR)/$$m; echo "$$m: go vet, staticcheck, go mod tidy"; \
	  go vet ./...; go run $(STATICCHECK) ./...; go mod tidy -diff; done
	go vet -tags citus ./pgworker/worker
	shellcheck -S warning $$(git grep -lE '^#!.*[/ ](ba)?sh$$')

tidy: ## go.mod and go.sum of every module, after a change of what the code imports
	@for m in $(MODULES); do (cd $$m && go mod tidy); done

race: ## short tests under the race detector
	go test -timeout 3h -race -short ./sketch/... ./sqlext/... ./pgworker/...

oldest: ## the extension in SQLite 3.31.1, the oldest that it takes
	@mkdir -p build
	cp go.mod build/oldest.mod; cp go.sum build/oldest.sum; go mod edit -require=github.com/mattn/go-sqlite3@v2.0.3+incompatible build/oldest.mod
	go test -modfile=build/oldest.mod -mod=mod -tags 'json1 sqlite_introspect' ./sqlext -run 'Functions|Cases|Polic|Checkin|Match|Agree|Pairs|Change|Errors|Names|Flags'

purego: ## the library without assembly
	go test -tags purego ./sketch/...

cross: ## the pure Go parts build for other systems
	@for os in linux darwin windows; do \
	  echo "GOOS=$$os GOARCH=arm64 go build ./sketch/... ./pgworker/..."; \
	  CGO_ENABLED=0 GOOS=$$os GOARCH=arm64 go build ./sketch/... ./pgworker/...; \
	done

processors: ## the golden vectors and the kernels on emulated arm64 and s390x, whose bytes go the other way
	@for p in arm64/aarch64 s390x/s390x; do \
	  echo "GOARCH=$${p%/*} go test -exec qemu-$${p#*/} -short -run 'Golden|Kernel|AsciiWords|RoundTrip' ./sketch ./sketch/simindex"; \
	  CGO_ENABLED=0 GOARCH=$${p%/*} go test -exec "qemu-$${p#*/}" -short -run 'Golden|Kernel|AsciiWords|RoundTrip' ./sketch ./sketch/simindex; \
	done

# When the time is up, a run can fail with "context deadline exceeded" and nothing
# else: a race in Go before 1.27 (golang/go#75804). It is run once more; an input
# that fails has been kept, and fails that one at once.
fuzz: ## every fuzz target for FUZZTIME (30s)
	@for f in $$(git grep -lE '^func Fuzz' -- '*_test.go'); do \
	  for t in $$(grep -oE '^func Fuzz[A-Za-z0-9_]+' $$f | cut -c6-); do \
	    run="go test -run ^$$ -fuzz ^$$t$$ -fuzztime $(FUZZTIME) ./$$(dirname $$f)"; \
	    echo "$$run"; $$run || $$run; \
	  done; \
	done

long: ## the long forms of tests: ten million documents clustered in 256 MB, hundreds of kills
	ALIKE_DOCUMENTS=10000000 ALIKE_MEMORY=268435456 go test -timeout 60m -v -run '^TestClusterMemory$$' ./sketch/cluster
	ALIKE_KILLS=300 go test -timeout 60m -v -run '^TestKills$$' ./pgworker/worker

citus: ## Citus answers as one PostgreSQL does, with nodes killed: CITUS=folder of its programs DOCUMENTS=100000
	ALIKE_CITUS=$(CITUS) ALIKE_DOCUMENTS=$(DOCUMENTS) go test -tags citus -timeout 4h -v -run '^TestCitus' ./pgworker/worker

stats: ## the estimators against the truth, the long form, with its tables (a quarter of an hour)
	go test -timeout 5h -v -run '^TestStatistics' ./sketch -args -long

bench: ## the library's benchmarks
	go test -run '^$$' -bench . -benchmem ./sketch/...

bench-sqlite: ## what the SQLite extension costs: functions, and an attached table of a million rows
	go run ./sqlext/bench

bench-postgres: ## the worker and the questions at a million rows, beside what they are compared to
	go test ./pgworker/worker -run '^$$' -bench Postgres -benchtime 1x -timeout 60m

bench-sketch: ## MB/s of text to features, with each kernel this machine has
	go test -run '^$$' -bench '^BenchmarkTable$$' -benchtime 1x -cpu 1 ./sketch

# Every contender on the short documents; on the others those that finish; then growth, and pg_trgm as far as it goes.
SIDEBYSIDE = go run -C examples/internal/sidebyside . -keep
FINISH = ^alike|^DuckDB|datasketch$$|rensa$$|gaoya|ClickHouse|ekzhu|BottomK
sidebyside: ## quality, speed and growth beside the peers: examples/internal/sidebyside/results again (an hour and a half, idle, 30 GB of disk)
	go run -C examples/internal/sidebyside . -collections short -documents 1000000 -limit 1m
	$(SIDEBYSIDE) -collections long -documents 1000000 -limit 1m -only '$(FINISH)'
	$(SIDEBYSIDE) -collections real,modules -limit 1m -only '$(FINISH)'
	$(SIDEBYSIDE) -collections growth -sizes 10000,100000,1000000,10000000 -only '^alike (SQLite|PostgreSQL)$$' -limit 15m
	$(SIDEBYSIDE) -collections growth -sizes 10000,100000,1000000 -only '^pg_trgm GIN$$' -limit 15m

bulk: ## the portable queries on DuckDB and on a Spark cluster of two executors, to the row what PostgreSQL answers
	.ci/setup sidebyside
	go test -C examples/internal/sidebyside -timeout 30m -count 1 -v -run '^TestBulk$$' . -args -engines duckdb,spark -documents 20000

# Hours: each change runs the short tests of its package. MUTANTS is how many are drawn from each.
MUTANTS ?= 60
mutants: ## changes the source in one place at a time and counts those that the tests notice
	nice go run .ci/mutants/mutants.go -lists $(filter-out %/explained.list,$(wildcard .ci/mutants/*.list))
	nice go run .ci/mutants/mutants.go -n $(MUTANTS) ./sketch/... ./sqlext

demo: ## the main job on an embedded SQLite database
	go run ./examples/quickstart

clean: ## remove build/
	rm -rf build
