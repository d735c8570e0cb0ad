# One entry for each check. CI (`.ci/run`) calls the first group and nothing else, so what passes here passes there.

CARGO ?= cargo
# How long `make soak` goes on.
SOAK_MINUTES ?= 10
# How many times `make loom-deep` lets a model's threads be preempted.
PREEMPTIONS ?= 5
# The sanitizers need a target by name, so that build scripts and macros are built without them.
NIGHTLY_TARGET = $(shell rustc -vV | sed -n 's/^host: //p')

LOOM = RUSTFLAGS="$$RUSTFLAGS --cfg loom" $(CARGO) test -p actor-core --profile loom --lib

.PHONY: help ci test fmt lint doc loom deny book smoke loom-deep soak asan advisories bench-kv shootout

help: ## Lists the entries
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F"|" '{ printf "make %-12s %s\n", $$1, $$2 }'

ci: test fmt lint doc loom asan deny book smoke ## All that CI checks, in its order

# === what CI checks ===

test: ## All tests, the documentation's and the book's included
	$(CARGO) test --workspace

fmt: ## The code is formatted
	$(CARGO) fmt --all --check

lint: ## clippy has nothing to say
	$(CARGO) clippy --workspace --all-targets -- -D warnings

doc: ## The documentation builds, without a broken link
	RUSTDOCFLAGS="$$RUSTDOCFLAGS -D warnings" $(CARGO) doc --workspace --no-deps

loom: ## The models of what threads share, with up to 3 preemptions each
	LOOM_MAX_PREEMPTIONS=3 $(LOOM)

# Those tests that start no process: a child would inherit the sanitizer's options and its limits.
asan: ## Engine and host under AddressSanitizer and LeakSanitizer (nightly)
	RUSTFLAGS="$$RUSTFLAGS -Zsanitizer=address -Cforce-frame-pointers=yes" \
	ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan.supp \
	$(CARGO) +nightly test --target $(NIGHTLY_TARGET) -p actor-core -p actor-tokio \
		--lib --test two_shards --test calls --test ends --test api --test accounting --test panics

deny: ## Licences, duplicates and sources of the dependencies
	$(CARGO) deny --locked check bans licenses sources

book: ## The book builds
	mdbook build book

smoke: ## The example store, built for release, measures itself
	$(CARGO) run --release -p examples --bin kv -- --demo

# === by hand ===

loom-deep: ## The models with more preemptions: PREEMPTIONS=5
	LOOM_MAX_PREEMPTIONS=$(PREEMPTIONS) $(LOOM)

soak: ## The tests of the engine, the host and the examples, over and over: SOAK_MINUTES=10
	$(CARGO) test -p actor-core -p actor-tokio -p examples --tests --no-run
	@end=$$(($$(date +%s) + 60 * $(SOAK_MINUTES))); rounds=0; \
	while [ $$(date +%s) -lt $$end ]; do \
		$(CARGO) test -q -p actor-core -p actor-tokio -p examples --tests || exit 1; \
		rounds=$$((rounds + 1)); \
	done; \
	echo "soak: $$rounds rounds without a failure"

advisories: ## Known vulnerabilities of the dependencies; fetches the advisory database
	$(CARGO) deny --locked check advisories

bench-kv: ## The example store beside Redis, measured by redis-benchmark
	benches/kv_vs_redis.py

shootout: ## Rings and handles against the others, with tables and plots in benches/results
	benches/shootout.py
