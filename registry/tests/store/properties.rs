//! Properties of parsers and seals, over many values.

use proptest::prelude::*;
use registry::{
    AccountId, BranchName, Clock, Constraint, DataKey, Digest, EnvvarName, OrganizationId, ProjectPath, SealedFor,
    Tags, ToolId, ToolName, VariableOwner, Version,
};

/// One clause of a constraint, as text and as an independent check.
#[derive(Clone, Debug)]
struct Clause {
    operator: &'static str,
    version: (u64, u64, u64),
}

impl Clause {
    fn allows(&self, candidate: (u64, u64, u64)) -> bool {
        let (major, minor, _) = self.version;
        match self.operator {
            "==" => candidate == self.version,
            "!=" => candidate != self.version,
            ">=" => candidate >= self.version,
            "<=" => candidate <= self.version,
            ">" => candidate > self.version,
            "<" => candidate < self.version,
            _ => candidate >= self.version && (candidate.0, candidate.1) == (major, minor),
        }
    }
}

fn numbers() -> impl Strategy<Value = (u64, u64, u64)> {
    (0..4_u64, 0..4_u64, 0..4_u64)
}

fn clause() -> impl Strategy<Value = Clause> {
    let operator = prop::sample::select(vec!["==", "!=", ">=", "<=", ">", "<", "~="]);
    (operator, numbers()).prop_map(|(operator, version)| Clause { operator, version })
}

proptest! {
    #[test]
    fn a_constraint_matches_when_all_its_clauses_match(clauses in prop::collection::vec(clause(), 0..5), candidate in numbers()) {
        let written = |clause: &Clause| {
            let (major, minor, patch) = clause.version;
            format!("{}{major}.{minor}.{patch}", clause.operator)
        };
        let text = clauses.iter().map(written).collect::<Vec<_>>().join(", ");
        let expected = clauses.iter().all(|clause| clause.allows(candidate));
        let version = Version::new(candidate.0, candidate.1, candidate.2);
        prop_assert_eq!(Constraint::parse(&text).unwrap().matches(&version), expected, "{}", text);
    }

    #[test]
    fn a_bare_version_matches_itself(wanted in numbers(), candidate in numbers()) {
        let wanted = Version::new(wanted.0, wanted.1, wanted.2);
        let candidate = Version::new(candidate.0, candidate.1, candidate.2);
        prop_assert_eq!(Constraint::parse(&wanted.to_string()).unwrap().matches(&candidate), wanted == candidate);
        prop_assert_eq!(Constraint::exactly(wanted).matches(&candidate), wanted == candidate);
        prop_assert_eq!(Version::parse(&wanted.to_string()).unwrap(), wanted);
    }

    #[test]
    fn parsers_accept_or_refuse_any_text(text in any::<String>()) {
        let _ = (Constraint::parse(&text), Version::parse(&text), Digest::parse(&text), ProjectPath::parse(&text));
        let _ = (BranchName::parse(&text), Tags::parse([(text.clone(), None)]), OrganizationId::parse(&text));
        prop_assert_eq!(ToolName::parse(&text).is_ok(), is(&text, 64, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
        let is_name = is(&text, 128, |c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let begins_with_digit = text.starts_with(|c: char| c.is_ascii_digit());
        prop_assert_eq!(EnvvarName::parse(&text).is_ok(), is_name && !begins_with_digit);
        prop_assert_eq!(ToolId::parse(&text).is_ok(), text.len() == 24 && is(&text, 24, |c| "0123456789abcdef".contains(c)));
    }

    #[test]
    fn any_constraint_can_be_matched(text in "[0-9!.*=<>~, vabcrpostdev+_-]{0,40}", version in numbers()) {
        if let Ok(constraint) = Constraint::parse(&text) {
            let version = Version::new(version.0, version.1, version.2);
            let expected = constraint.matches(&version);
            let written = constraint.to_string();
            prop_assert_eq!(Constraint::parse(&written).map(|again| again.matches(&version)), Ok(expected), "{}", written);
        }
    }

    #[test]
    fn parsed_values_are_written_as_they_were_read(name in "[a-z0-9_]{1,64}", id in "[0-9a-f]{24}", bytes in any::<Vec<u8>>()) {
        prop_assert_eq!(ToolName::parse(&name).unwrap().to_string(), name);
        prop_assert_eq!(ToolId::parse(&id).unwrap().to_string(), id);
        let digest = Digest::of(&bytes);
        prop_assert_eq!(Digest::parse(&digest.to_string()).unwrap(), digest);
    }

    #[test]
    fn a_sealed_value_opens_only_in_its_row(value in any::<String>(), flip in any::<prop::sample::Index>()) {
        let (key, clock) = (DataKey::generate(), Clock::system());
        let (acme, other) = (OrganizationId::parse("acme").unwrap(), OrganizationId::parse("other").unwrap());
        let (tool, another) = (ToolId::new(&clock), ToolId::new(&clock));
        let user = AccountId::parse(&format!("{tool}#1")).unwrap();
        let place = SealedFor { organization: &acme, owner: VariableOwner::Tool(&tool), name: "TOKEN" };
        let sealed = key.seal(place, &value).unwrap();
        let opened = key.open(place, &sealed).unwrap();
        prop_assert_eq!(opened.as_str(), &value);
        let elsewhere = [
            SealedFor { organization: &other, ..place },
            SealedFor { owner: VariableOwner::Tool(&another), ..place },
            SealedFor { owner: VariableOwner::User(&user), ..place },
            SealedFor { name: "TOKEN_", ..place },
        ];
        prop_assert!(elsewhere.iter().all(|place| key.open(*place, &sealed).is_err()));
        prop_assert!(DataKey::generate().open(place, &sealed).is_err());
        let mut damaged = sealed.clone();
        damaged[flip.index(sealed.len())] ^= 1;
        prop_assert!(key.open(place, &damaged).is_err());
        prop_assert!(key.open(place, &sealed[..flip.index(sealed.len())]).is_err());
    }
}

fn is(text: &str, length_max: usize, allowed: fn(char) -> bool) -> bool {
    (1..=length_max).contains(&text.len()) && text.chars().all(allowed)
}

#[test]
fn constraints_are_bounded() {
    for refused in [&">=1,".repeat(17), &" ".repeat(300).replace(' ', "1"), "latest", ">=", "1.2.3.", "==1.2.3 ; x"] {
        assert!(Constraint::parse(refused).is_err(), "{refused}");
    }
    for (text, version, expected) in [
        ("", "0.0.1", true),
        ("==1.*", "1.9.9", true),
        ("==1.*", "2.0.0", false),
        ("~=1.2", "1.9.0", true),
        ("1.2", "1.2.0", true),
    ] {
        assert_eq!(Constraint::parse(text).unwrap().matches(&Version::parse(version).unwrap()), expected, "{text}");
    }
}

#[test]
fn paths_and_branches_cannot_escape() {
    for refused in ["", "/", "/a", "a//b", "../a", "a/./b", "a b", "a\0"] {
        assert!(ProjectPath::parse(refused).is_err(), "{refused:?}");
    }
    assert_eq!(ProjectPath::parse("tools/a-b_c/").unwrap().as_str(), "tools/a-b_c");
    for refused in
        ["", "a..b", "-a", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a.", "a@{b", "@", "a b", "a~1", "HEAD", "a\x7f"]
    {
        assert!(BranchName::parse(refused).is_err(), "{refused:?}");
    }
    for accepted in ["main", "releases/acme", "fix-#12", "ünïcode", "a@b"] {
        assert!(BranchName::parse(accepted).is_ok(), "{accepted:?}");
    }
}

#[test]
fn versions_are_strict() {
    for refused in
        ["", "1", "1.2", "1.2.3.4", "01.2.3", "1.2.-3", "+1.2.3", "1.2.3 ", "9223372036854775808.0.0", "1..3"]
    {
        assert!(Version::parse(refused).is_err(), "{refused:?}");
    }
}
