# `just` lists what can be done here; every recipe is a command that also works without just.

[private]
default:
    @just --list

# What CI runs, on this checkout
check:
    .ci/run

# Formatting and lints
lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings

# The whole suite
test *arguments:
    cargo test {{ arguments }}

# Tests and types of the Python package, with pytest and mypy from the current environment
test-python:
    cd scaffold/python && python3 -m pytest -p no:cacheprovider
    cd scaffold/python && python3 -m mypy --strict

# A tool from source to history
demo *arguments:
    cargo run --release -- demo {{ arguments }}

# A server on ./lathe-data
serve *arguments:
    cargo run --release -- serve {{ arguments }}

# A fresh instance and a trivial run, beside a CPython process per call
bench:
    cargo bench -p runner

# Times and rates of calls at the HTTP door of a release build, with durable records
load seconds='5':
    LATHE_LOAD_SECONDS={{ seconds }} cargo test --release -p cli --test it load:: -- --nocapture

# The HTTP door beside `wasmtime serve`, workerd and CPython with an equal tool (installs them into target/peers)
bench-peers seconds='5':
    tests/load/peers/install.sh target/peers
    LATHE_LOAD_PEERS="$PWD/target/peers" LATHE_LOAD_SECONDS={{ seconds }} cargo test --release -p cli --test it load:: -- --nocapture

# Builds the benchmarks' Rust guests again (needs `rustup target add wasm32-wasip2`)
guest: (build-guest "runner/benches/guests" "echo") (build-guest "tests/load/peers" "tool") (build-guest "tests/load/peers" "serve")

[private]
build-guest folder name:
    cd {{ folder }}/{{ name }} && RUSTFLAGS="--remap-path-prefix=$HOME=home" cargo build --release --target wasm32-wasip2
    cp {{ folder }}/{{ name }}/target/wasm32-wasip2/release/{{ name }}.wasm {{ folder }}/{{ name }}.wasm

# Makes the JavaScript image again (needs Node.js 20 or later, npm and zstd)
javascript-image:
    cd scaffold/javascript_image && npm ci --ignore-scripts && node build.mjs image.wasm recipe.sha256
    cd scaffold/javascript_image && zstd -19 --force --rm --quiet image.wasm -o image.wasm.zst

# Licences, sources, bans and advisories of the dependencies (needs `cargo install --locked cargo-deny`)
deny:
    cargo deny check

# 100,000 spoilt requests over raw sockets, and as many made from the OpenAPI document (half an hour or more)
attack:
    LATHE_ATTACK_CASES=100000 cargo test -p cli --test it attack -- --nocapture
    python3 -m venv target/attack
    target/attack/bin/python -m pip install --quiet --requirement tests/attack/requirements.txt
    target/attack/bin/python tests/attack/attack.py target/debug/lathe --seconds 300 --requests 100000

# All hostile tools at once for twenty seconds, beside a well-behaved neighbour: its times alone and with them
neighbour:
    LATHE_NEIGHBOUR_SECONDS=20 cargo test --release -p cli --test it neighbours -- --nocapture
