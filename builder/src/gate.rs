//! The semantic-version gate: the changes between two versions that callers may notice, and the bump that they require.
//!
//! Calls that work with a version must also work with every later version of the same major number. The gate therefore
//! compares everything that callers see of two versions: the schemas of input and output, the required variables, the
//! allowed hosts, the component's imports and exports, and the declarations for models and clients. A change that cannot
//! be shown to be compatible counts as breaking.

mod apis;
mod arrays;
mod budget;
mod change;
mod kinds;
mod numbers;
mod objects;
mod parts;
mod promises;
mod quoted;
mod reason;
mod same;
mod schemas;
mod values;
mod worlds;

use std::collections::BTreeSet;

use registry::{BumpKind, EnvvarName, HostPattern, SchemaText, ToolVersion, VersionSettings};

pub use change::Change;

/// The part of a version that callers see.
#[derive(Clone, Copy)]
pub struct CallerInterface<'a> {
    pub input_schema: &'a SchemaText,
    pub envvars: &'a [EnvvarName],
    pub secrets: &'a [EnvvarName],
    pub settings: &'a VersionSettings,
}

impl<'a> From<&'a ToolVersion> for CallerInterface<'a> {
    fn from(version: &'a ToolVersion) -> Self {
        Self {
            input_schema: &version.input_schema,
            envvars: &version.required_envvars,
            secrets: &version.required_secret_envvars,
            settings: &version.settings,
        }
    }
}

/// The smallest bump that covers a list of changes.
#[must_use]
pub fn find_needed_bump(changes: &[Change]) -> BumpKind {
    changes.iter().map(|change| change.bump).max_by_key(|bump| weigh(*bump)).unwrap_or(BumpKind::Patch)
}

/// Whether a bump is at least as large as the needed one.
#[must_use]
pub const fn suffices(bump: BumpKind, needed: BumpKind) -> bool {
    weigh(bump) >= weigh(needed)
}

const fn weigh(bump: BumpKind) -> u8 {
    match bump {
        BumpKind::Patch => 0,
        BumpKind::Minor => 1,
        BumpKind::Major => 2,
    }
}

/// The changes that callers of the old version may notice. Changes that need only a patch are left out.
#[must_use]
pub fn changes(old: CallerInterface<'_>, new: CallerInterface<'_>) -> Vec<Change> {
    let mut changes = match old.settings.apis.is_empty() || new.settings.apis.is_empty() {
        true => values::compare_inputs(&old.input_schema.value(), &new.input_schema.value()),
        // Each API is compared for itself.
        false => Vec::new(),
    };
    changes.extend(apis::compare(old.settings, new.settings));
    let outputs = [old, new].map(|version| version.settings.output_schema.as_ref().map(SchemaText::value));
    changes.extend(values::compare_outputs(outputs[0].as_ref(), outputs[1].as_ref()));
    changes.extend(compare_variables("variable", old.envvars, new.envvars));
    changes.extend(compare_variables("secret", old.secrets, new.secrets));
    changes.extend(compare_hosts("host", &old.settings.allowed_hosts, &new.settings.allowed_hosts));
    for (secret, hosts_of) in &new.settings.secret_hosts {
        let before = old.settings.secret_hosts.get(secret).map_or(&[][..], Vec::as_slice);
        changes.extend(compare_hosts(&format!("host for the secret {secret}"), before, hosts_of));
    }
    changes.extend(compare_calls(old.settings, new.settings));
    changes.extend(worlds::compare(&old.settings.world, &new.settings.world));
    changes.extend(promises::compare(old.settings, new.settings));
    changes
}

/// Compares required variables. An added variable is breaking, since users of the old version have not set it.
fn compare_variables(what: &str, old: &[EnvvarName], new: &[EnvvarName]) -> Vec<Change> {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
    let added = new.difference(&old);
    let added =
        added.map(|name| Change { bump: BumpKind::Major, reason: format!("the {what} {name} must be set now") });
    let dropped = old.difference(&new);
    let dropped = dropped
        .map(|name| Change { bump: BumpKind::Minor, reason: format!("the {what} {name} is not needed any more") });
    added.chain(dropped).collect()
}

/// Compares the tools that a tool calls. A further one is a minor change, as a further host is.
fn compare_calls(old: &VersionSettings, new: &VersionSettings) -> Vec<Change> {
    let added = new.calls.keys().filter(|tool| !old.calls.contains_key(*tool));
    added
        .map(|tool| Change { bump: BumpKind::Minor, reason: format!("the tool may now call the tool {tool}") })
        .collect()
}

/// Compares allowed hosts. A new host is a minor change, so that a new destination of data does not go unnoticed.
fn compare_hosts(what: &str, old: &[String], new: &[String]) -> Vec<Change> {
    let covers = |one: &HostPattern, other: &str| HostPattern::parse(other).is_ok_and(|other| one.covers(&other));
    let before: Vec<HostPattern> = old.iter().filter_map(|host| HostPattern::parse(host).ok()).collect();
    let added = new.iter().filter(|host| !old.contains(host) && !before.iter().any(|one| covers(one, host)));
    added.map(|host| Change { bump: BumpKind::Minor, reason: format!("a new {what}: {host}") }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use runner::InputSchema;
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::schemas::Comparison;
    use super::values::{compare_inputs, compare_outputs};
    use super::*;

    #[derive(Deserialize)]
    struct Row {
        name: String,
        old: Value,
        new: Value,
        bump: BumpKind,
    }

    #[test]
    fn every_change_of_the_table_needs_its_bump() {
        let rows: Vec<Row> = serde_json::from_str(include_str!("gate/changes.json")).unwrap();
        assert!(rows.len() >= 60);
        let found: Vec<_> =
            rows.iter().map(|row| (find_needed_bump(&compare_inputs(&row.old, &row.new)), row)).collect();
        let wrong = found.iter().filter(|(found, row)| *found != row.bump);
        let wrong: Vec<_> = wrong.map(|(found, row)| format!("{}: {}", row.name, found.as_str())).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }

    #[test]
    fn narrower_outputs_are_compatible_and_others_break() {
        let number = |minimum: i64, maximum: i64| json!({"type": "integer", "minimum": minimum, "maximum": maximum});
        let rows = [
            (None, None, BumpKind::Patch),
            (None, Some(number(0, 9)), BumpKind::Minor),
            (Some(number(0, 9)), None, BumpKind::Major),
            (Some(number(0, 9)), Some(number(0, 9)), BumpKind::Patch),
            (Some(number(0, 9)), Some(number(1, 8)), BumpKind::Minor),
            (Some(number(0, 9)), Some(number(0, 10)), BumpKind::Major),
            (Some(number(0, 9)), Some(json!({"type": "string"})), BumpKind::Major),
            (Some(json!({})), Some(json!({"title": "any"})), BumpKind::Patch),
        ];
        for (old, new, bump) in rows {
            assert_eq!(find_needed_bump(&compare_outputs(old.as_ref(), new.as_ref())), bump, "{old:?} {new:?}");
        }
        let changes = compare_outputs(Some(&number(0, 9)), Some(&number(0, 10)));
        assert!(changes[0].reason.contains("outputs may have values that they could not have before"), "{changes:?}");
    }

    #[test]
    fn a_host_is_new_unless_an_old_pattern_covers_it() {
        let rows: [(&[&str], &[&str], BumpKind); 7] = [
            (&["a.example.com"], &["a.example.com"], BumpKind::Patch),
            (&["a.example.com"], &[], BumpKind::Patch),
            (&[], &["a.example.com"], BumpKind::Minor),
            (&["*.example.com"], &["a.example.com", "*.a.example.com"], BumpKind::Patch),
            (&["a.example.com"], &["*.example.com"], BumpKind::Minor),
            (&["a.example.com"], &["a.example.com:8443"], BumpKind::Minor),
            (&["*"], &["a.example.com"], BumpKind::Patch),
        ];
        for (old, new, bump) in rows {
            let owned = |hosts: &[&str]| hosts.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>();
            assert_eq!(find_needed_bump(&compare_hosts("host", &owned(old), &owned(new))), bump, "{old:?} {new:?}");
        }
    }

    #[test]
    fn an_added_variable_breaks_and_a_removed_one_does_not() {
        let named = |names: &[&str]| names.iter().map(|name| EnvvarName::parse(name).unwrap()).collect::<Vec<_>>();
        for (old, new, bump) in [
            (named(&["A", "B"]), named(&["B", "A"]), BumpKind::Patch),
            (named(&["A"]), named(&["A", "B"]), BumpKind::Major),
            (named(&["A", "B"]), named(&["A"]), BumpKind::Minor),
            (named(&["A"]), named(&["B"]), BumpKind::Major),
        ] {
            assert_eq!(find_needed_bump(&compare_variables("variable", &old, &new)), bump, "{old:?} {new:?}");
        }
    }

    #[test]
    fn reasons_name_the_property() {
        let schema = |a: Value| json!({"type": "object", "properties": {"a": {"type": "array", "items": a}}});
        let old = schema(json!({"type": "object", "properties": {"b": {"maximum": 9}}}));
        let new = schema(json!({"type": "object", "properties": {"b": {"maximum": 5}}, "required": ["b"]}));
        let reasons: Vec<_> = compare_inputs(&old, &new).into_iter().map(|change| change.reason).collect();
        assert_eq!(reasons, ["`a[].b` accepts less than before: `maximum` 5", "`a[].b` is required now"]);
    }

    #[test]
    fn schemas_that_are_too_large_to_compare_break() {
        let branches = |kind: &str| (0..60).map(|n| json!({"type": kind, "minLength": n})).collect::<Vec<_>>();
        let nested = |kind: &str| {
            (0..6)
                .fold(json!({"anyOf": branches(kind)}), |inner, _| json!({"anyOf": [inner, {"anyOf": branches(kind)}]}))
        };
        let changes = compare_inputs(&nested("string"), &nested("array"));
        assert_eq!(find_needed_bump(&changes), BumpKind::Major);
    }

    /// Each pair multiplies the work for one part: values by values, branches by branches, keywords by parts.
    #[test]
    fn a_comparison_stops_at_its_budget() {
        let listed = |first: usize| {
            let values: Vec<usize> = (first..first + 3_000).collect();
            json!({"type": "object", "required": ["k"], "properties": {"k": {"enum": values}}})
        };
        let one_of = json!({"oneOf": (0..40).map(|branch| listed(10_000 + branch)).collect::<Vec<_>>()});
        let wide = |kind: &str| {
            let names = (0..4_000).map(|name| (name.to_string(), json!({"type": kind, "minLength": name})));
            json!({"type": "object", "properties": names.collect::<serde_json::Map<_, _>>()})
        };
        let all = |kind: &str| json!({"allOf": (0..60).map(|_| wide(kind)).collect::<Vec<_>>()});
        let pattern =
            |last: &str| json!({"enum": vec![json!("x".repeat(500)); 2_000], "pattern": format!("^x*{last}$")});
        for (old, new) in [(listed(0), one_of), (all("string"), all("array")), (pattern("x"), pattern("y"))] {
            for (one, other) in [(&old, &new), (&new, &old)] {
                assert_eq!(find_needed_bump(&compare_inputs(one, other)), BumpKind::Major);
            }
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3..8_i64).prop_map(Value::from),
            (-3..8_i64).prop_map(|number| json!(number as f64 / 2.0)),
            "[ab]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::btree_map("[abc]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let kind = prop_oneof![
            Just("string"),
            Just("integer"),
            Just("number"),
            Just("null"),
            Just("object"),
            Just("array"),
            Just("boolean")
        ];
        let number = -2..6_i64;
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::from),
            Just(json!({})),
            kind.clone().prop_map(|kind| json!({"type": kind})),
            (kind.clone(), kind.clone())
                .prop_filter_map("twice", |(one, other)| { (one != other).then(|| json!({"type": [one, other]})) }),
            proptest::collection::vec(value(), 1..3).prop_map(|values| json!({"enum": values})),
            value().prop_map(|value| json!({"const": value})),
            (number.clone(), number.clone()).prop_map(|(one, other)| json!({"minimum": one, "maximum": other})),
            number.clone().prop_map(|bound| json!({"type": "number", "exclusiveMinimum": bound})),
            (1..4_u8).prop_map(|step| json!({"multipleOf": step})),
            (0..4_u8, 0..4_u8).prop_map(|(least, most)| json!({"minLength": least, "maxLength": most})),
            (0..3_u8, 0..3_u8).prop_map(|(least, most)| json!({"minItems": least, "maxItems": most})),
            (0..3_u8, 0..3_u8).prop_map(|(least, most)| json!({"minProperties": least, "maxProperties": most})),
            Just(json!({"$ref": "#/$defs/one"})),
            Just(json!({"properties": {"a": {"$ref": "#/$defs/one"}}})),
            "[abc]".prop_map(|name| json!({"required": [name]})),
            Just(json!({"uniqueItems": true})),
        ];
        leaf.prop_recursive(4, 16, 3, |inner| {
            let list = proptest::collection::vec(inner.clone(), 1..3);
            let by_name = proptest::collection::btree_map("[abc]", inner.clone(), 0..3);
            prop_oneof![
                (by_name.clone(), proptest::option::of(inner.clone()), proptest::option::of("[abc]")).prop_map(
                    |(properties, additional, required)| {
                        let mut schema = json!({"type": "object", "properties": properties});
                        additional.into_iter().for_each(|additional| schema["additionalProperties"] = additional);
                        required.into_iter().for_each(|required| schema["required"] = json!([required]));
                        schema
                    }
                ),
                (by_name, inner.clone()).prop_map(|(patterns, additional)| {
                    json!({"patternProperties": patterns, "additionalProperties": additional})
                }),
                (list.clone(), inner.clone())
                    .prop_map(|(prefix, items)| json!({"prefixItems": prefix, "items": items})),
                inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
                inner.clone().prop_map(|items| json!({"contains": items})),
                list.clone().prop_map(|all| json!({"allOf": all})),
                list.clone().prop_map(|any| json!({"anyOf": any})),
                list.clone().prop_map(|one| json!({"oneOf": one})),
                inner.clone().prop_map(|not| json!({"not": not})),
                (inner.clone(), inner.clone(), inner.clone())
                    .prop_map(|(a, b, c)| json!({"if": a, "then": b, "else": c})),
                (inner.clone(), inner)
                    .prop_map(|(one, other)| json!({"allOf": [one], "anyOf": [other, {"type": "string"}]})),
            ]
        })
    }

    /// A schema with the definition that its references point to.
    fn document() -> impl Strategy<Value = Value> {
        (schema(), schema()).prop_filter_map("references lead somewhere", |(root, one)| {
            let one = if one.get("$ref").is_some() { json!({"type": "string"}) } else { one };
            let mut root = if root.is_object() { root } else { json!({"allOf": [root]}) };
            root["$defs"] = json!({"one": one});
            Some(root)
        })
    }

    /// A pair of schemas, most often similar ones, as in two versions of a tool.
    fn pair() -> impl Strategy<Value = (Value, Value)> {
        let related = (document(), schema(), 0..5_u8)
            .prop_map(|(old, other, how)| {
                let mut new = old.clone();
                match how {
                    0 => new = json!({"anyOf": [old, other], "$defs": old["$defs"]}),
                    1 => new["title"] = json!("another"),
                    2 => new["$defs"]["one"] = other,
                    3 => new["properties"]["a"] = other,
                    _ => new["maximum"] = json!(3),
                }
                (old, new)
            })
            .boxed();
        prop_oneof![(document(), document()), related.clone(), related.prop_map(|(old, new)| (new, old))]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn accepted_values_stay_accepted_after_compatible_changes(
            (old, new) in pair(),
            values in proptest::collection::vec(value(), 24),
        ) {
            let (Ok(before), Ok(after)) = (InputSchema::compile(&old), InputSchema::compile(&new)) else { return Ok(()) };
            if Comparison::new(&old, &new).find_refused().is_empty() {
                for value in values {
                    prop_assert!(before.accepts(&value, u64::MAX) != Some(true) || after.accepts(&value, u64::MAX) == Some(true), "{value}");
                }
            }
        }
    }
}
