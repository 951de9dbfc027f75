//! The table `calls`: the tools that runs of the version may call, with the versions that it accepts.

use std::collections::BTreeMap;

use registry::{Constraint, ToolName};

use super::fields::{Fields, Located};
use super::node::{TableEntry, Value};
use crate::error::Error;

/// Tools that one version may call. Nobody reviews a longer list.
const CALLS_MAX: usize = 50;

pub fn read(lathe: &mut Fields) -> Result<BTreeMap<ToolName, Constraint>, Error> {
    let key = "calls";
    let names: Vec<_> = lathe.take_table(key)?.into_entries().collect();
    let located: Vec<_> =
        names.iter().map(|(name, entry)| Located { line: entry.key_line, value: name.clone() }).collect();
    lathe.bound(key, &located, CALLS_MAX)?;
    names.into_iter().map(|(name, entry)| read_call(lathe, name, entry)).collect()
}

fn read_call(lathe: &Fields, name: String, entry: TableEntry) -> Result<(ToolName, Constraint), Error> {
    let key = format!("calls.{name}");
    let tool = ToolName::parse(&name).map_err(|error| lathe.refuse("calls", entry.key_line, &error.to_string()))?;
    let Value::Text(text) = entry.node.value else {
        return Err(lathe.refuse(&key, entry.node.line, "must be a version constraint, such as \">=1.2,<2\""));
    };
    let constraint = Constraint::parse(&text);
    Ok((tool, constraint.map_err(|error| lathe.refuse(&key, entry.node.line, error.reason))?))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_refused, parse};
    use super::*;

    fn calls(lines: &str) -> String {
        format!("[project]\nname = 'w'\n[tool.lathe.calls]\n{lines}\n")
    }

    #[test]
    fn tools_have_constraints() {
        let manifest = parse(&calls("weather = '>=1.2,<2'\nany_other = ''")).unwrap();
        let constraint = |name: &str| manifest.calls[&ToolName::parse(name).unwrap()].to_string();
        assert_eq!(constraint("weather"), ">=1.2, <2");
        assert_eq!(constraint("any_other"), "");
        assert_eq!(parse("[project]\nname = 'w'\n").unwrap().calls, BTreeMap::new());
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        assert_refused(&calls("Weather = '1'"), "pyproject.toml:4: tool.lathe.calls");
        assert_refused(
            &calls("weather = 1"),
            "pyproject.toml:4: tool.lathe.calls.weather must be a version constraint",
        );
        assert_refused(
            &calls("weather = 'newest'"),
            "pyproject.toml:4: tool.lathe.calls.weather must be a PEP 440 constraint",
        );
        assert_refused("[project]\nname = 'w'\n[tool.lathe]\ncalls = ['weather']", "calls must be a table");
        let many: String = (0..51).map(|number| format!("tool_{number} = '1'\n")).collect();
        assert_refused(&calls(&many), "tool.lathe.calls");
    }
}
