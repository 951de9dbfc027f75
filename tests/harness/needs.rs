//! External programs and services that these tests need.

use super::need::Need;

pub const BROWSER: Need = Need { what: "a browser", command: "apt-get install chromium-headless-shell" };

pub const DUCKDB: Need = Need {
    what: "DuckDB",
    command: "python3 -m venv target/duckdb && target/duckdb/bin/pip install -r tests/export/requirements.txt; \
              LATHE_DUCKDB_PYTHON=$PWD/target/duckdb/bin/python",
};

pub const ESBUILD: Need = Need { what: "esbuild", command: "npm install --global esbuild, or LATHE_ESBUILD=FILE" };

pub const INSTALLERS: Need = Need {
    what: "pip and uv",
    command: "python3 -m venv target/installers && target/installers/bin/pip install -r tests/installers/requirements.txt; \
              LATHE_TEST_INSTALLERS=$PWD/target/installers/bin",
};

pub const MODEL_SDKS: Need = Need {
    what: "the SDKs of OpenAI and Anthropic",
    command: "python3 -m venv target/model_sdks && target/model_sdks/bin/pip install -r tests/model_sdks/requirements.txt; \
              LATHE_MODEL_SDKS_PYTHON=$PWD/target/model_sdks/bin/python",
};

pub const NETWORK_OF_ITS_OWN: Need = Need {
    what: "strace, ip and the right to make user and network namespaces",
    command: "apt-get install strace iproute2; sysctl kernel.unprivileged_userns_clone=1",
};

pub const NGINX: Need = Need { what: "nginx", command: "apt-get install nginx-light" };

pub const NPM_REGISTRY: Need =
    Need { what: "an npm registry", command: "LATHE_NPM_REGISTRY=$(npm config get registry)" };

pub const PROVENANCE_VERIFIER: Need = Need {
    what: "an independent verifier of provenance",
    command: "python3 -m venv target/verifier && target/verifier/bin/pip install -r tests/provenance/requirements.txt; \
              LATHE_VERIFIER_PYTHON=$PWD/target/verifier/bin/python",
};

pub const PUBLIC_CRATES: Need = Need { what: "the public registry of crates", command: "unset LATHE_TEST_CRATE_INDEX" };

pub const PYTHON_INDEX: Need = Need {
    what: "a Python package index",
    command: "LATHE_PYTHON_INDEX=$(python3 -c 'from pip._internal.models.index import PyPI; print(PyPI.simple_url)')",
};

/// Only root can change its user.
pub const ROOT: Need = Need { what: "the user root", command: "sudo --preserve-env=PATH cargo test" };

pub const RUST_TOOLCHAIN: Need = Need {
    what: "a Rust toolchain for wasm32-wasip2, cc and bubblewrap",
    command: "apt-get install bubblewrap gcc; rustup target add wasm32-wasip2, or tests/rust/wasm-toolchain.sh \
              target/wasm-toolchain",
};
