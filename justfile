# `just` lists the recipes. Each is a command that also works without just.

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

# The whole suite, to its end even if a test fails
test *arguments:
    cargo test --no-fail-fast {{ arguments }}

# The facts about built-in tools with their tests and results, as target/facts.md, from the output of `just test` and of tests/typed_clients/run.py
facts +logs:
    python3 tests/facts/table.py --table target/facts.md {{ logs }}

# Tests and types of the Python package, with pytest and mypy from the current environment
test-python:
    cd scaffold/python && python3 -m pytest -p no:cacheprovider
    cd scaffold/python && python3 -m mypy --strict

# Lints of the files in deploy/ (needs Debian's systemd and nginx-light)
lint-deploy:
    python3 -m venv target/deploy
    target/deploy/bin/python -m pip install --quiet --requirement tests/deploy/requirements.txt
    tests/deploy/lint.sh target/deploy/bin

# A tool from source to history
demo *arguments:
    cargo run --release -- demo {{ arguments }}

# The demo on a cluster: Postgres, an S3 server, three nodes and nginx, which end with it (needs Debian's postgresql and nginx-light)
cluster:
    python3 -m venv target/storage
    target/storage/bin/python -m pip install --quiet --requirement tests/storage/requirements.txt
    CI=true LATHE_S3_PYTHON="$PWD/target/storage/bin/python" cargo test --workspace --test it nodes::demo:: -- --nocapture

# A server on ./lathe-data
serve *arguments:
    cargo run --release -- serve {{ arguments }}

# A new instance and a trivial run, beside a CPython process per call
bench:
    cargo bench -p runner --profile dist

# Latency and throughput of calls over HTTP, of a release build with durable records
load seconds='5':
    LATHE_LOAD_SECONDS={{ seconds }} cargo test --profile dist -p cli --test it load:: -- --nocapture

# The HTTP API beside `wasmtime serve`, workerd and CPython with the same tool (installs them into target/peers)
bench-peers seconds='5':
    tests/load/peers/install.sh target/peers
    LATHE_LOAD_PEERS="$PWD/target/peers" LATHE_LOAD_SECONDS={{ seconds }} cargo test --profile dist -p cli --test it load:: -- --nocapture

# Fills a database with runs, and measures lists and searches: `--data DIRECTORY`, `--database postgres://…`
history runs='100000' *arguments:
    cargo bench -p registry --bench history --profile dist -- {{ runs }} {{ arguments }}

# Fills the Library of one user with memories, and measures searches: `--database postgres://…`
memories count='100000' *arguments:
    cargo bench -p agents --bench memories --profile dist -- {{ count }} {{ arguments }}

# Builds the benchmarks' Rust guests again (needs `rustup target add wasm32-wasip2`)
guest: (build-guest "runner/benches/guests" "echo") (build-guest "tests/load/peers" "tool") (build-guest "tests/load/peers" "serve")

[private]
build-guest folder name:
    cd {{ folder }}/{{ name }} && RUSTFLAGS="--remap-path-prefix=$HOME=home" cargo build --release --target wasm32-wasip2
    cp {{ folder }}/{{ name }}/target/wasm32-wasip2/release/{{ name }}.wasm {{ folder }}/{{ name }}.wasm

# Builds the Python image again, in about ten minutes at the first time
python-image:
    cd scaffold/python_image/recipe && cargo run --locked -- ../image.wasm.zst
    scaffold/image_sources.sh python_image > target/recipe.sha256
    mv target/recipe.sha256 scaffold/python_image/recipe.sha256

# Builds the JavaScript image again (needs Node.js 20 or later, and npm)
javascript-image:
    cd scaffold/javascript_image && npm ci --ignore-scripts && node build.mjs image.wasm
    cargo run --locked -p flatten --example finish -- scaffold/javascript_image/image.wasm scaffold/javascript_image/image.wasm.zst
    scaffold/image_sources.sh javascript_image > target/recipe.sha256
    mv target/recipe.sha256 scaffold/javascript_image/recipe.sha256

# Licences, sources, bans and advisories of the dependencies (needs `cargo install --locked cargo-deny`)
deny:
    cargo deny check

# 100,000 damaged requests over raw sockets, and as many generated from the OpenAPI document (half an hour or more)
attack:
    LATHE_ATTACK_CASES=100000 cargo test -p cli --test it attack -- --nocapture
    python3 -m venv target/attack
    target/attack/bin/python -m pip install --quiet --requirement tests/attack/requirements.txt
    target/attack/bin/python tests/attack/attack.py target/debug/lathe --seconds 300 --requests 100000

# Kills a server at random instants under work, and at each step; compares what it acknowledged with what it has
kill kills='200':
    LATHE_KILLS={{ kills }} LATHE_KILLS_DATABASE=sqlite cargo test --workspace --test it kill:: -- --nocapture --test-threads 1

# Kills two servers of one Postgres database and the database itself (needs Debian's `postgresql`)
kill-postgres kills='200':
    LATHE_KILLS={{ kills }} LATHE_KILLS_DATABASE=postgres cargo test --workspace --test it kill::nodes -- --nocapture

# Fuzzes each parser of authors' bytes
fuzz seconds='60':
    LATHE_FUZZ_SECONDS={{ seconds }} cargo test fuzz:: -- --nocapture

# All hostile tools for twenty seconds, and the largest request of each operation ten times at once, beside a well-behaved neighbour
neighbour:
    LATHE_NEIGHBOUR_SECONDS=20 cargo test --release -p cli --test it neighbours_of -- --nocapture --test-threads 1
