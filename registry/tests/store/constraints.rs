//! Constraints mean what they mean to Python's installers: `constraints.json` was written with `packaging`'s
//! `SpecifierSet`, which a version alone reached as `==`.

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
    /// The candidates that pass; nothing when the constraint is none.
    versions: Option<Vec<String>>,
}

#[test]
fn constraints_allow_what_packaging_allows() {
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
fn an_empty_constraint_can_be_told() {
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
