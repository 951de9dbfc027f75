//! Lock files of other tools. A build reads none of them; its messages name the command that makes the one it reads.

use std::collections::BTreeMap;

/// A lock file, or a list of packages, that a build does not read.
struct ForeignLock {
    file: &'static str,
    tool: &'static str,
    /// What to run instead.
    how: &'static str,
}

const fn of(file: &'static str, tool: &'static str, how: &'static str) -> ForeignLock {
    ForeignLock { file, tool, how }
}

const UV_COMPILE: &str = "name the packages in [project] dependencies of pyproject.toml, and make requirements.lock with `uv pip compile \
    --generate-hashes pyproject.toml -o requirements.lock`";
const FROM_CONDA: &str = "packages of conda are native code, which tools do not load. Name packages of a Python index in [project] dependencies \
    of pyproject.toml, and make requirements.lock with `uv pip compile --generate-hashes pyproject.toml -o requirements.lock`";
const NPM: &str = "make package-lock.json with `npm install --package-lock-only` and commit it; npm chooses the versions anew, within the ranges of \
    package.json";

/// The files of Python, those with the most exact versions first.
const PYTHON: [ForeignLock; 13] = [
    of(
        "poetry.lock",
        "Poetry",
        "make requirements.lock with `poetry export --format requirements.txt --output requirements.lock`, which needs `poetry self add \
         poetry-plugin-export` once",
    ),
    of(
        "pdm.lock",
        "PDM",
        "make requirements.lock with `pdm export --production --format requirements --output requirements.lock`",
    ),
    of(
        "Pipfile.lock",
        "Pipenv",
        "make requirements.lock with `pipenv requirements --hash --exclude-index > requirements.lock`, and name the packages in [project] \
         dependencies of pyproject.toml",
    ),
    of("pylock.toml", "pip", UV_COMPILE),
    of("pixi.lock", "Pixi", FROM_CONDA),
    of("conda-lock.yml", "conda-lock", FROM_CONDA),
    of("environment.yml", "conda", FROM_CONDA),
    of("environment.yaml", "conda", FROM_CONDA),
    of(
        "requirements.txt",
        "pip",
        "make requirements.lock with `uv pip compile --generate-hashes requirements.txt -o requirements.lock`, and name the packages in \
         [project] dependencies of pyproject.toml",
    ),
    of(
        "requirements.in",
        "pip-tools",
        "make requirements.lock with `uv pip compile --generate-hashes requirements.in -o requirements.lock`, and name the packages in \
         [project] dependencies of pyproject.toml",
    ),
    of("Pipfile", "Pipenv", UV_COMPILE),
    of("setup.cfg", "setuptools", UV_COMPILE),
    of("setup.py", "setuptools", UV_COMPILE),
];

const JAVASCRIPT: [ForeignLock; 6] = [
    of(
        "npm-shrinkwrap.json",
        "npm",
        "it has the format of package-lock.json: rename it with `git mv npm-shrinkwrap.json package-lock.json`",
    ),
    of(
        "yarn.lock",
        "Yarn",
        "make package-lock.json with `npm install --package-lock-only` and commit it; npm takes the versions of a yarn.lock of Yarn 1",
    ),
    of("pnpm-lock.yaml", "pnpm", NPM),
    of("bun.lock", "Bun", NPM),
    of("bun.lockb", "Bun", NPM),
    of("deno.lock", "Deno", NPM),
];

/// What to run for the first file of another Python tool that a project has.
pub fn explain_python(files: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    explain(files, &PYTHON)
}

/// What to run for the first file of another JavaScript tool that a project has.
pub fn explain_javascript(files: &BTreeMap<String, Vec<u8>>) -> Option<String> {
    explain(files, &JAVASCRIPT)
}

fn explain(files: &BTreeMap<String, Vec<u8>>, known: &[ForeignLock]) -> Option<String> {
    let ForeignLock { file, tool, how } = known.iter().find(|foreign| files.contains_key(foreign.file))?;
    Some(format!("{file} of {tool} is not read; {how}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_named_with_a_command() {
        for (table, ours) in [(&PYTHON[..], "requirements.lock"), (&JAVASCRIPT, "package-lock.json")] {
            for foreign in table {
                let files = BTreeMap::from([(foreign.file.to_owned(), Vec::new())]);
                let text = explain(&files, table).expect(foreign.file);
                assert!(text.starts_with(foreign.file) && text.contains(ours) && text.contains('`'), "{text}");
            }
            assert_eq!(explain(&BTreeMap::new(), table), None);
        }
    }
}
