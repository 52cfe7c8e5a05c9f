# What a person does with this project. Every target does first what it needs.

CONFIG ?= configs/quick.yaml
ARGS ?=
CARGO ?= cargo
program := target/release/coorl-async

.DEFAULT_GOAL := help
.PHONY: help setup build train test test-learning ablations bench profile lint clean tools

help:
	@echo "make setup   fetch libtorch into the user's cache and link it here (CUDA=1: with CUDA, 2.5 GB)"
	@echo "make build   the program, $(program)"
	@echo "make train   train with CONFIG=$(CONFIG); more options in ARGS=\"--set run.seed=2 ...\""
	@echo "make test    all tests but one"
	@echo "make test-learning  whether training converges, exactly, on small games (20 minutes)"
	@echo "make ablations  what each part of configs/strong.yaml is worth: a table (an hour; MINUTES=4 a run)"
	@echo "make bench   benchmarks, as ratios to limits measured in the same run"
	@echo "make profile a flamegraph of CONFIG's training, inlined functions and lines included; options in ARGS (compiles everything anew)"
	@echo "make lint    formatting, clippy and documentation without warnings"
	@echo "make clean   remove what was built (runs and the cached libtorch stay)"

# The C++ compiler builds tch's bindings.
tools:
	@command -v $(CARGO) >/dev/null 2>&1 || { echo "error: cargo was not found: install Rust 1.89 or newer (https://rustup.rs)" >&2; exit 1; }
	@command -v "$${CXX:-c++}" >/dev/null 2>&1 || { echo "error: no C++ compiler ($${CXX:-c++}) was found: install one (Debian and Ubuntu: g++, Fedora: gcc-c++, macOS: xcode-select --install)" >&2; exit 1; }

setup: tools
	@sh scripts/libtorch.sh

build: setup
	$(CARGO) build --release --locked

train: build
	$(program) train --config $(CONFIG) $(ARGS)

test: setup
	$(CARGO) test --release --locked

# Real runs on games whose answers are known.
test-learning: setup
	$(CARGO) test --release --locked --test learning -- --nocapture --test-threads 1

# A run and its judgement for each file of configs/ablations, laid over configs/strong.yaml.
ablations: build
	sh scripts/ablations.sh

# Short micro-benchmarks, then the table of limits (ARGS=--check: fails where a row misses), then nodes/s by walks and threads.
bench: setup
	$(CARGO) bench --locked --bench micro -- --quick
	$(CARGO) bench --locked --bench limits -- $(ARGS)
	$(CARGO) bench --locked --bench limits -- --scaling --rounds 3

# The release build profiles too: `coorl-async profile run`. This one also knows what was inlined, and has frame pointers for `perf`.
profile: setup
	RUSTFLAGS="-C force-frame-pointers=yes" $(CARGO) build --profile profiling --locked --target-dir target/profiling-build
	target/profiling-build/profiling/coorl-async profile run --config $(CONFIG) $(ARGS)

lint: setup
	$(CARGO) fmt --check
	$(CARGO) clippy --release --locked --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings -A rustdoc::private-intra-doc-links" $(CARGO) doc --release --locked --no-deps --document-private-items

clean:
	$(CARGO) clean
