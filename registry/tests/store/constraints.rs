//! Constraints match the same versions as in Python: `constraints.json` was generated with the `SpecifierSet` of `packaging`,
//! with `==` before bare versions.

use registry::{Constraint, Version};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    candidates: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    constraint: String,
    /// The matching candidates. `None` for an invalid constraint.
    versions: Option<Vec<String>>,
}

#[test]
fn constraints_match_the_same_versions_as_packaging() {
    let table: Table = serde_json::from_str(include_str!("constraints.json")).unwrap();
    assert!(table.rows.len() > 200);
    let mut wrong = Vec::new();
    for Row { constraint, versions } in &table.rows {
        let parsed = Constraint::parse(constraint).ok();
        let passes = |constraint: Constraint| -> Vec<String> {
            let candidates = table.candidates.iter();
            candidates.filter(|text| constraint.matches(&Version::parse(text).unwrap())).cloned().collect()
        };
        let found = parsed.map(passes);
        if found != *versions {
            wrong.push(format!("{constraint:?}: {found:?} instead of {versions:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_empty_constraint_is_recognised() {
    for (text, expected) in [("", true), (" , ", true), ("==1.*", false), (">=0", false)] {
        assert_eq!(Constraint::parse(text).unwrap().is_any(), expected, "{text:?}");
    }
}

#[test]
fn the_bounds_are_inclusive() {
    let clauses = |count: usize| vec![">=1"; count].join(",");
    assert!(Constraint::parse(&clauses(16)).is_ok());
    assert!(Constraint::parse(&clauses(17)).is_err());
    let long = |bytes: usize| format!("==1.{}", "0".repeat(bytes - 4));
    assert!(Constraint::parse(&long(256)).is_ok());
    assert!(Constraint::parse(&long(257)).is_err());
    assert!(Constraint::parse("==99999999999999999999999").is_err(), "a number beyond 64 bits");
}
