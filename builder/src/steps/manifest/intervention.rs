//! The keys `intervention` and `intervention_rules`: which calls a person confirms.

use registry::{Intervention, InterventionRule};
use runner::check_intervention_rule;
use serde_json::{Map, Value};

use super::fields::{Fields, Located, STAGE};
use crate::error::Error;
use crate::text::show;

/// The reason why the value of an argument is refused.
const NO_SCHEMA: &str = "must be a JSON Schema without dates and null, such as `{ minimum = 100 }`";

/// Reads what counts for all calls.
pub fn read(lathe: &mut Fields) -> Result<Intervention, Error> {
    read_declared(lathe).map(Option::unwrap_or_default)
}

/// Reads what counts for all calls, if it is declared.
pub fn read_declared(lathe: &mut Fields) -> Result<Option<Intervention>, Error> {
    let key = "intervention";
    let Some(Located { line, value }) = lathe.take_text(key)? else { return Ok(None) };
    value.parse().map(Some).map_err(|_| lathe.refuse(key, line, "must be \"never\", \"required\" or \"always\""))
}

/// Reads the rules for calls with certain arguments.
pub fn read_rules(lathe: &mut Fields) -> Result<Vec<InterventionRule>, Error> {
    let key = "intervention_rules";
    let rules = lathe.take_tables(key)?;
    match rules.get(InterventionRule::COUNT_MAX) {
        Some(beyond) => {
            Err(lathe.refuse(key, beyond.line, &format!("has more than {} entries", InterventionRule::COUNT_MAX)))
        }
        None => rules.into_iter().map(read_rule).collect(),
    }
}

fn read_rule(Located { line, value: mut fields }: Located<Fields>) -> Result<InterventionRule, Error> {
    let refuse = |fields: &Fields, key: &str, problem: &str| Err(fields.refuse(key, line, problem));
    let mut when = Map::new();
    for (argument, entry) in fields.take_table("when")?.into_entries() {
        let schema = entry.node.into_json().filter(|schema| schema.is_object() || schema.is_boolean());
        let refused = || fields.refuse(&format!("when.{argument}"), entry.key_line, NO_SCHEMA);
        let schema = schema.ok_or_else(refused)?;
        when.insert(argument, schema);
    }
    if when.is_empty() {
        return refuse(
            &fields,
            "when",
            "must have an argument with its JSON Schema, such as `{ amount = { minimum = 100 } }`",
        );
    }
    let intervention = match fields.take_text("intervention")?.map(|found| found.value.parse()) {
        Some(Ok(intervention)) if intervention != Intervention::Never => intervention,
        _ => return refuse(&fields, "intervention", "must be \"required\" or \"always\""),
    };
    let rule = InterventionRule { when, intervention };
    match check_intervention_rule(&rule) {
        Err(problem) => refuse(&fields, "when", &format!("cannot be used: {problem}")),
        Ok(()) => fields.finish().map(|()| rule),
    }
}

/// Refuses a rule about an argument that no call can have.
///
/// # Errors
/// When the input schema refuses the argument.
pub fn check_arguments(rules: &[InterventionRule], input_schema: &Value) -> Result<(), Error> {
    if input_schema["additionalProperties"] != false || input_schema.get("patternProperties").is_some() {
        return Ok(());
    }
    let unknown =
        rules.iter().flat_map(|rule| rule.when.keys()).find(|name| input_schema["properties"].get(name).is_none());
    unknown.map_or(Ok(()), |name| {
        let message = format!("intervention_rules: the input schema refuses the argument {}", show(name));
        Err(Error::failed(STAGE, "intervention_rules", message))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{assert_refused, parse};
    use super::*;

    fn lathe(lines: &str) -> String {
        format!("[project]\nname = 'w'\n[tool.lathe]\n{lines}\n")
    }

    fn ruled(lines: &str) -> String {
        lathe(&format!("[[tool.lathe.intervention_rules]]\n{lines}"))
    }

    #[test]
    fn a_person_confirms_what_the_author_declares() {
        let nothing = parse(&lathe("")).unwrap();
        assert_eq!((nothing.intervention, nothing.intervention_rules), (Intervention::Never, Vec::new()));
        assert_eq!(parse(&lathe("intervention = 'always'")).unwrap().intervention, Intervention::Always);
        let second = "intervention = 'required'\n[[tool.lathe.intervention_rules]]\n\
            when = { to = { enum = ['all'], type = 'string' }, urgent = true }\nintervention = 'always'";
        let manifest = parse(&ruled(&format!("when = {{ amount = {{ minimum = 99.5 }} }}\n{second}"))).unwrap();
        let expected = json!([
            {"when": {"amount": {"minimum": 99.5}}, "intervention": "required"},
            {"when": {"to": {"enum": ["all"], "type": "string"}, "urgent": true}, "intervention": "always"},
        ]);
        assert_eq!(json!(manifest.intervention_rules), expected);
        assert_eq!(manifest.intervention, Intervention::Never);
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        assert_refused(
            &lathe("intervention = 'sometimes'"),
            "pyproject.toml:4: tool.lathe.intervention must be \"never\"",
        );
        assert_refused(&lathe("intervention = true"), "pyproject.toml:4: tool.lathe.intervention must be a string");
        assert_refused(&lathe("intervention_rules = 'x'"), "tool.lathe.intervention_rules must be a list of tables");
        assert_refused(&lathe("intervention_rules = ['x']"), "tool.lathe.intervention_rules must be a list of tables");
        let place = "pyproject.toml:4: tool.lathe.intervention_rules";
        assert_refused(&ruled("intervention = 'always'"), &format!("{place}[0].when must have an argument"));
        assert_refused(
            &ruled("when = { a = 5 }\nintervention = 'always'"),
            "pyproject.toml:5: tool.lathe.intervention_rules[0].when.a must be a JSON Schema",
        );
        assert_refused(&ruled("when = { a = true }"), &format!("{place}[0].intervention must be"));
        assert_refused(
            &ruled("when = { a = true }\nintervention = 'never'"),
            &format!("{place}[0].intervention must be"),
        );
        assert_refused(
            &ruled("when = { a = { type = 'money' } }\nintervention = 'always'"),
            &format!("{place}[0].when cannot be used: /properties/a/type: "),
        );
        assert_refused(&ruled("when = { a = true }\nintervention = 'always'\nif = 1"), "is an unknown key");
        let many = "[[tool.lathe.intervention_rules]]\nwhen = { a = true }\nintervention = 'always'\n".repeat(17);
        assert_refused(&lathe(&many), "has more than 16 entries");
    }

    #[test]
    fn an_argument_that_no_call_can_have_is_refused() {
        let rules =
            parse(&ruled("when = { amout = { minimum = 100 } }\nintervention = 'always'")).unwrap().intervention_rules;
        let schema = |more: bool| json!({"properties": {"amount": {"type": "number"}}, "additionalProperties": more});
        assert!(check_arguments(&rules, &schema(true)).is_ok());
        let refused = check_arguments(&rules, &schema(false)).unwrap_err().to_string();
        assert!(refused.contains("the input schema refuses the argument") && refused.contains("amout"), "{refused}");
        assert!(check_arguments(&rules, &json!({})).is_ok());
        let patterns = json!({"patternProperties": {"^am": {}}, "additionalProperties": false});
        assert!(check_arguments(&rules, &patterns).is_ok());
    }
}
