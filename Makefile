# One entry for each check. CI (`.ci/run`) calls the first group and nothing else, so what passes here passes there.

SHELL = bash
CARGO ?= cargo
# How long `make soak` goes on.
SOAK_MINUTES ?= 10
# How long each test of `make hammer-long` goes on.
HAMMER_SECONDS ?= 60
# How many times `make loom-deep` lets a model's threads be preempted.
PREEMPTIONS ?= 5
# The sanitizers need a target by name, so that build scripts and macros are built without them.
NIGHTLY_TARGET = $(shell rustc -vV | sed -n 's/^host: //p')

LOOM = RUSTFLAGS="$$RUSTFLAGS --cfg loom" $(CARGO) test -p actor-core --profile loom --lib

ASAN = RUSTFLAGS="$$RUSTFLAGS -Zsanitizer=address -Cforce-frame-pointers=yes" \
	ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan.supp \
	$(CARGO) +nightly test --target $(NIGHTLY_TARGET)

# A compiler that builds its own standard library, and a directory of its own for what it builds: one build for all tests.
# Optimised a little, since a hammer that falls slowly finds less; without backtraces, which are slow under the sanitizer.
TSAN_DIR = $(abspath $(or $(CARGO_TARGET_DIR),target))/tsan
TSAN = RUSTC=$(TSAN_DIR)/std/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS="$$RUSTFLAGS -Zsanitizer=thread --cfg planted_race" \
	CARGO_PROFILE_DEV_OPT_LEVEL=1 CARGO_PROFILE_TEST_OPT_LEVEL=1 TSAN_OPTIONS=halt_on_error=1 RUST_BACKTRACE=0 \
	$(CARGO) +nightly test -Zbuild-std --target $(NIGHTLY_TARGET) --target-dir $(TSAN_DIR) -p actor-core

RINGS = lanes mutex vyukov
# The tests that send.
RING_TESTS = --test two_shards --test calls --test ends --test control --test all_to_all --test deadlines \
	--test deadlocks --test overflow --test reserve --test api --test accounting --test backpressure --test spin

# Optimised, with assertions on.
HAMMER = $(CARGO) test -p actor-core --profile loom --test hammer

.PHONY: help ci test fmt lint doc rings rings-long loom hammer asan tsan-std tsan-planted tsan deny book smoke loom-deep hammer-long soak \
	advisories bench-kv shootout

help: ## Lists the entries
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | awk -F"|" '{ printf "make %-12s %s\n", $$1, $$2 }'

ci: test fmt lint doc rings loom hammer asan tsan deny book smoke ## All that CI checks, in its order

# === what CI checks ===

test: ## All tests, the documentation's and the book's included
	$(CARGO) test --workspace

fmt: ## The code is formatted
	$(CARGO) fmt --all --check

lint: ## clippy has nothing to say
	$(CARGO) clippy --workspace --all-targets --all-features -- -D warnings

doc: ## The documentation builds, without a broken link
	RUSTDOCFLAGS="$$RUSTDOCFLAGS -D warnings" $(CARGO) doc --workspace --no-deps

# Which one is the default, the tests above have shown.
rings: ## Engine and host with each ring; a build with none, or with two, is refused
	@for ring in $(RINGS); do \
		echo "=== ACTOR_RING=$$ring"; \
		ACTOR_RING=$$ring $(CARGO) test -q -p actor-core -p actor-tokio --lib $(RING_TESTS) || exit 1; \
	done
	@for refused in none lanes,mutex; do \
		echo "=== ACTOR_RING=$$refused"; \
		if said=$$(ACTOR_RING=$$refused $(CARGO) check -q -p actor-core 2>&1); then exit 1; fi; \
		grep "no ring is chosen\|two rings are chosen" <<<"$$said" || { echo "$$said"; exit 1; }; \
	done

loom: ## The models of what threads share, with up to 3 preemptions each
	LOOM_MAX_PREEMPTIONS=3 $(LOOM)

hammer: ## Shards on threads, a mesh of actors, books that must balance: 10 s a test
	ACTOR_HAMMER_SECONDS=10 $(HAMMER)

# Those tests that start no process: a child would inherit the sanitizer's options and its limits.
asan: ## Engine and host under AddressSanitizer and LeakSanitizer (nightly)
	ACTOR_HAMMER_SECONDS=10 $(ASAN) -p actor-core -p actor-tokio --lib --test two_shards --test calls --test ends \
		--test control --test all_to_all --test deadlines --test deadlocks --test overflow --test reserve --test hammer \
		--test api --test accounting --test panics --test backpressure --test spin

tsan-std: ## The compiler and the standard library for ThreadSanitizer, from Debian's packages
	.ci/instrumented-std $(TSAN_DIR)/std

tsan-planted: tsan-std ## A planted race is reported
	$(TSAN) --config "target.'$(NIGHTLY_TARGET)'.runner='$(CURDIR)/.ci/expect-race'" --test planted_race

# The hammer turns both ways: where shards sleep, a wake orders what a race would need unordered.
tsan: tsan-planted ## The engine under ThreadSanitizer, standard library included (nightly, Debian's packages)
	ACTOR_HAMMER_SECONDS=10 $(TSAN) --lib --test two_shards --test calls --test deadlocks --test all_to_all \
		--test hammer

deny: ## Licences, duplicates and sources of the dependencies
	$(CARGO) deny --locked check bans licenses sources

book: ## The book builds
	mdbook build book

smoke: ## The example store, built for release, measures itself
	$(CARGO) run --release -p examples --bin kv -- --demo

# === by hand ===

loom-deep: ## The models with more preemptions: PREEMPTIONS=5
	LOOM_MAX_PREEMPTIONS=$(PREEMPTIONS) $(LOOM)

hammer-long: tsan-planted ## The hammer with each ring: as it is, under ASan and LSan, and under TSan: HAMMER_SECONDS=60
	@for ring in $(RINGS); do \
		echo "=== ACTOR_RING=$$ring"; export ACTOR_RING=$$ring; \
		ACTOR_HAMMER_SECONDS=$(HAMMER_SECONDS) $(HAMMER) && \
		ACTOR_HAMMER_SECONDS=$(HAMMER_SECONDS) $(ASAN) -p actor-core --test hammer && \
		ACTOR_HAMMER_SECONDS=$(HAMMER_SECONDS) $(TSAN) --test hammer || exit 1; \
	done

rings-long: ## The rings' contract with a million messages of each producer
	ACTOR_RING_MESSAGES=1000000 $(CARGO) test -p actor-core --profile loom --lib -- contract::a_

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
