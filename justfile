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

# Builds the benchmark's Rust guest again (needs `rustup target add wasm32-wasip2`)
guest:
    cd runner/benches/guests/echo && RUSTFLAGS="--remap-path-prefix=$HOME=home" cargo build --release --target wasm32-wasip2
    cp runner/benches/guests/echo/target/wasm32-wasip2/release/echo.wasm runner/benches/guests/echo.wasm

# Licences, sources, bans and advisories of the dependencies (needs `cargo install --locked cargo-deny`)
deny:
    cargo deny check
