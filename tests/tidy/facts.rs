//! The lists in `tests/facts/` name tests that exist, and every test with the id of a fact in its name. The program beside the lists
//! compares them with the results of a whole run.

use super::{File, files, none};

/// Programs of tests, with the directories of their sources.
const PROGRAMS: [(&str, &str); 12] = [
    ("it", "tests/"),
    ("store", "registry/tests/store/"),
    ("agent_store", "agents/tests/agent_store/"),
    ("api-it", "api/tests/it/"),
    ("agents", "agents/src/"),
    ("api", "api/src/"),
    ("api_kit", "api_kit/src/"),
    ("mcp", "mcp/src/"),
    ("builder", "builder/src/"),
    ("lathe", "cli/src/"),
    ("registry", "registry/src/"),
    ("runner", "runner/src/"),
];

/// The digits of the lists in ids: `s0_029_…`.
const LISTS: [char; 3] = ['0', '1', '4'];

/// The tests of all facts, each after its program.
fn listed(files: &[File]) -> Vec<String> {
    let lists = files.iter().filter(|file| file.path.starts_with("tests/facts/") && file.path.ends_with(".tsv"));
    let cells = lists.flat_map(|file| file.text.lines().skip(1).filter_map(|line| line.split('\t').nth(2)));
    let tests = cells.flat_map(|cell| cell.split(',')).map(|test| test.trim().to_owned());
    tests.filter(|test| test.contains(' ')).collect()
}

fn exists(files: &[File], test: &str) -> bool {
    let Some((program, path)) = test.split_once(' ') else { return false };
    if program == "typed_clients" {
        let id = format!("\"{path}\"");
        return files.iter().any(|file| file.path == "tests/typed_clients/cases.py" && file.text.contains(&id));
    }
    let directory = PROGRAMS.iter().find(|(name, _)| *name == program);
    let (Some((_, directory)), Some((module, name))) = (directory, path.rsplit_once("::")) else { return false };
    let module = format!("{}/", module.replace("::", "/"));
    files.iter().any(|file| {
        let stem = file.path.strip_prefix(directory).and_then(|path| path.strip_suffix(".rs"));
        let is_of_module = stem.is_some_and(|stem| module.starts_with(&format!("{}/", stem.trim_end_matches("/mod"))));
        is_of_module && tests_of(&file.text).any(|found| found == name)
    })
}

/// The names of the functions of a file, and of the rows of `rows!`.
fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let function = line.split_once("fn ").and_then(|(_, rest)| rest.split_once('('));
        Some(function.or_else(|| line.split_once(": |"))?.0.trim())
    })
}

fn has_id(name: &str) -> bool {
    let digits =
        name.strip_prefix('s').and_then(|rest| rest.strip_prefix(LISTS)).and_then(|rest| rest.strip_prefix('_'));
    digits.and_then(|rest| rest.get(..3)).is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

#[test]
fn the_tests_of_all_facts_exist() {
    let files = files();
    let listed = listed(&files);
    assert!(listed.len() > 200, "only {} tests were found in the lists", listed.len());
    let gone: Vec<_> = listed.into_iter().filter(|test| !exists(&files, test)).collect();
    none("tests in tests/facts/*.tsv that do not exist", &gone);
}

#[test]
fn every_test_with_the_id_of_a_fact_is_in_the_lists() {
    let files = files();
    let listed = listed(&files);
    let known = |name: &str| listed.iter().any(|test| test.ends_with(&format!("::{name}")));
    let sources = files.iter().filter(|file| PROGRAMS.iter().any(|(_, directory)| file.path.starts_with(directory)));
    let named = sources.flat_map(|file| tests_of(&file.text).map(move |name| (file, name)));
    let unknown = named.filter(|(_, name)| has_id(name) && !known(name));
    none(
        "tests/facts/*.tsv do not name these tests",
        &unknown.map(|(file, name)| format!("{}: {name}", file.path)).collect::<Vec<_>>(),
    );
}

#[test]
fn a_test_is_found_in_the_file_of_its_module() {
    let file = |path: &str, text: &str| File { path: path.into(), text: text.into() };
    let files = [
        file("tests/library/memory.rs", "rows! {\n    s0_029_stores: |agent| {\n"),
        file("runner/src/native/mod.rs", "mod tests {\n    #[test]\n    fn a_name() {\n"),
        file("tests/typed_clients/cases.py", "(\"S0-130\", \"GET\")"),
    ];
    for test in ["it library::memory::s0_029_stores", "runner native::tests::a_name", "typed_clients S0-130"] {
        assert!(exists(&files, test), "{test}");
    }
    for test in [
        "it library::memory::s0_030",
        "it library::rules::s0_029_stores",
        "store library::memory::s0_029_stores",
        "typed_clients S0-131",
        "it s0_029_stores",
    ] {
        assert!(!exists(&files, test), "{test}");
    }
    assert!(
        ["s0_029_stores", "s4_002_and_003_x"].map(has_id) == [true; 2]
            && ["s3_030_x", "s0_29", "stores"].map(has_id) == [false; 3]
    );
}
