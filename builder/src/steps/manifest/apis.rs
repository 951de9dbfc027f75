//! The table `apis`: the functions of a tool that agents call by names of their own.

use std::collections::BTreeMap;

use registry::{Annotations, ApiName, Description, Intervention, SystemRole};

use super::fields::{Fields, Located};
use super::{annotations, intervention};
use crate::conventions::{ApiFunctions, Convention};
use crate::error::Error;

const KEY: &str = "apis";
/// Keys of the tool that each API has instead.
const KEYS_OF_ONE_FUNCTION: [&str; 3] = ["input_schema", "output_schema", "annotations"];

/// A declared API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Api {
    pub description: Description,
    pub function: ApiFunction,
    /// The file with the schema of the arguments. `None` to derive the schema from the function.
    pub input_schema: Option<String>,
    /// The file with the schema of outputs.
    pub output_schema: Option<String>,
    pub annotations: Annotations,
    /// `None` where the declaration of the tool counts.
    pub intervention: Option<Intervention>,
}

/// The function of an API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiFunction {
    /// A module in Python, the entry file in JavaScript, the exported function in Rust.
    pub module: String,
    pub name: String,
}

/// Reads the APIs, whose functions are in the `entry_point` of the tool by default. Empty for a tool of one function.
pub fn read(lathe: &mut Fields, convention: &Convention, entry_point: &str) -> Result<BTreeMap<ApiName, Api>, Error> {
    let Some(line) = lathe.find_line(KEY) else { return Ok(BTreeMap::new()) };
    if let Some((key, line)) = KEYS_OF_ONE_FUNCTION.iter().find_map(|key| Some((key, lathe.find_line(key)?))) {
        return Err(lathe.refuse(key, line, "must not be beside `apis`: each API has its own"));
    }
    let mut table = lathe.take_table(KEY)?;
    let names = table.list_keys();
    if names.is_empty() {
        return Err(lathe.refuse(KEY, line, "must have a table for each API, or be left out"));
    }
    lathe.bound(KEY, &names, ApiName::COUNT_MAX)?;
    names.into_iter().map(|name| read_api(&mut table, name, convention, entry_point)).collect()
}

/// Reads the instructions for models. The description of a tool of one function is enough.
pub fn read_system_role(lathe: &mut Fields) -> Result<Option<SystemRole>, Error> {
    let (key, has_apis) = ("system_role", are_declared(lathe));
    let Some(Located { line, value: text }) = lathe.take_text(key)? else { return Ok(None) };
    if !has_apis {
        return Err(lathe.refuse(key, line, "is for tools with `apis`; write it into the description of the tool"));
    }
    SystemRole::parse(&text).map(Some).map_err(|error| lathe.refuse(key, line, error.reason))
}

/// Whether a project declares APIs.
pub fn are_declared(lathe: &Fields) -> bool {
    lathe.find_line(KEY).is_some()
}

fn read_api(
    table: &mut Fields,
    Located { line, value: text }: Located<String>,
    convention: &Convention,
    entry_point: &str,
) -> Result<(ApiName, Api), Error> {
    let name = ApiName::parse(&text).map_err(|error| table.refuse(&text, line, &error.to_string()))?;
    let mut fields = table.take_table(&text)?;
    let Some(description) = fields.take_text("description")? else {
        return Err(table.refuse(&text, line, "must have a `description`, by which models choose it"));
    };
    let wrong = |error: registry::InvalidValue| fields.refuse("description", description.line, error.reason);
    let description = Description::parse(&description.value).map_err(wrong)?;
    let default = ApiFunction { module: entry_point.to_owned(), name: text };
    let api = Api {
        description,
        function: match convention.api_functions {
            ApiFunctions::OfModules { .. } => read_function(&mut fields, convention)?.unwrap_or(default),
            ApiFunctions::OfEntryFile => default,
        },
        input_schema: fields.take_file("input_schema")?,
        output_schema: fields.take_file("output_schema")?,
        annotations: annotations::read(fields.take_table("annotations")?)?,
        intervention: intervention::read_declared(&mut fields)?,
    };
    fields.finish().map(|()| (name, api))
}

fn read_function(fields: &mut Fields, convention: &Convention) -> Result<Option<ApiFunction>, Error> {
    let Some(Located { line, value }) = fields.take_text("entry_point")? else { return Ok(None) };
    let rules = &convention.entry_point;
    match value.split_once(':').filter(|(_, name)| (rules.is_valid)(&value) && !name.contains('.')) {
        Some((module, name)) => Ok(Some(ApiFunction { module: module.into(), name: name.into() })),
        None => Err(fields.refuse("entry_point", line, rules.rule)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_refused, parse};
    use super::*;
    use crate::steps::documents::Documents;
    use crate::steps::manifest::Manifest;

    fn lathe(lines: &str) -> String {
        format!("[project]\nname = 'orders'\n[tool.lathe]\n{lines}\n")
    }

    fn in_file(file: &str, text: &str) -> Result<Manifest, Error> {
        let files = BTreeMap::from([(file.to_owned(), text.into())]);
        Manifest::read(&Documents::parse_here(&files)?, &files)
    }

    fn name(text: &str) -> ApiName {
        ApiName::parse(text).unwrap()
    }

    #[test]
    fn every_key_of_an_api_is_read() {
        let manifest = parse(&lathe(
            "entry_point = 'orders.main'\nintervention = 'always'\n\
             [tool.lathe.apis.create]\ndescription = ' Creates an order. '\nentry_point = 'orders.new:create_order'\n\
             input_schema = 'in.json'\noutput_schema = 'out.json'\nintervention = 'never'\n\
             [tool.lathe.apis.create.annotations]\nidempotent = true\n\
             [tool.lathe.apis.listAll]\ndescription = 'Lists orders.'\n",
        ))
        .unwrap();
        assert_eq!(manifest.entry_point, "orders.main");
        let create = &manifest.apis[&name("create")];
        let function = |module: &str, name: &str| ApiFunction { module: module.into(), name: name.into() };
        assert_eq!(create.description.as_str(), "Creates an order.");
        assert_eq!(create.function, function("orders.new", "create_order"));
        assert_eq!(
            (create.input_schema.as_deref(), create.output_schema.as_deref()),
            (Some("in.json"), Some("out.json"))
        );
        assert_eq!((create.intervention, create.annotations.idempotent), (Some(Intervention::Never), Some(true)));
        let list = &manifest.apis[&name("listAll")];
        assert_eq!((&list.function, list.intervention), (&function("orders.main", "listAll"), None));
        let default = parse(&lathe("[tool.lathe.apis.create]\ndescription = 'Creates.'")).unwrap();
        assert_eq!(default.apis[&name("create")].function, function("tool", "create"));
        assert!(parse(&lathe("")).unwrap().apis.is_empty());
    }

    #[test]
    fn a_tool_with_apis_has_instructions() {
        let of =
            |role: &str| lathe(&format!("system_role = {role}\n[tool.lathe.apis.list]\ndescription = 'Lists orders.'"));
        let manifest = parse(&of("\"\"\"\nList first.\nThen create.\n\"\"\"")).unwrap();
        assert_eq!(manifest.system_role.unwrap().as_str(), "List first.\nThen create.");
        assert_eq!(parse(&lathe("")).unwrap().system_role, None);
        for wrong in ["' '".to_owned(), format!("'{}'", "x".repeat(8193))] {
            assert_refused(&of(&wrong), "pyproject.toml:4: tool.lathe.system_role must have 1 to 8192 bytes");
        }
        assert_refused(&lathe("system_role = 'List first.'"), "tool.lathe.system_role is for tools with `apis`");
    }

    #[test]
    fn refusals_name_file_line_and_key() {
        let create = "[tool.lathe.apis.create]\ndescription = 'Creates.'\n";
        let with = |lines: &str| lathe(&format!("{create}{lines}"));
        let before = |lines: &str| lathe(&format!("{lines}\n{create}"));
        assert_refused(&lathe("apis = 1"), "pyproject.toml:4: tool.lathe.apis must be a table");
        assert_refused(&lathe("[tool.lathe.apis]"), "tool.lathe.apis must have a table for each API");
        assert_refused(
            &lathe("[tool.lathe.apis.create]"),
            "pyproject.toml:4: tool.lathe.apis.create must have a `description`",
        );
        assert_refused(
            &lathe("[tool.lathe.apis.create]\ndescription = ' '"),
            "tool.lathe.apis.create.description must have 1",
        );
        assert_refused(&lathe("[tool.lathe.apis.Create]\ndescription = 'a'"), "tool.lathe.apis.Create ");
        assert_refused(
            &lathe("[tool.lathe.apis.create-it]\ndescription = 'a'"),
            "must be 1 to 40 characters of a-z A-Z 0-9 _",
        );
        assert_refused(
            &with("entrypoint = 'a:b'"),
            "pyproject.toml:6: tool.lathe.apis.create.entrypoint is an unknown key",
        );
        assert_refused(&with("entry_point = 'a'"), "pyproject.toml:6: tool.lathe.apis.create.entry_point must be");
        assert_refused(&with("entry_point = 'a:B.c'"), "tool.lathe.apis.create.entry_point must be");
        assert_refused(
            &with("input_schema = '../x'"),
            "tool.lathe.apis.create.input_schema must be a file of the project",
        );
        assert_refused(&with("intervention = 'maybe'"), "tool.lathe.apis.create.intervention must be \"never\"");
        for key in ["input_schema = 'a.json'", "output_schema = 'a.json'", "annotations = { read_only = true }"] {
            assert_refused(&before(key), "must not be beside `apis`: each API has its own");
        }
        assert_refused(
            &before("entry_point = 'orders:create'"),
            "pyproject.toml:4: tool.lathe.entry_point must be a module",
        );
        let many: String = (0..33).map(|n| format!("[tool.lathe.apis.a{n}]\ndescription = 'a'\n")).collect();
        assert_refused(&lathe(&many), "has more than 32 entries");
    }

    #[test]
    fn the_functions_of_a_javascript_tool_are_those_of_its_entry_file() {
        let project = |more: &str| {
            let api = format!(r#"{{"description": "Creates."{more}}}"#);
            in_file("package.json", &format!(r#"{{"name": "orders", "lathe": {{"apis": {{"create": {api}}}}}}}"#))
        };
        let function = ApiFunction { module: "index.ts".into(), name: "create".into() };
        assert_eq!(project("").unwrap().apis[&name("create")].function, function);
        let refused = project(r#", "entry_point": "a.js""#).unwrap_err().to_string();
        assert!(refused.contains("lathe.apis.create.entry_point is an unknown key"), "{refused}");
    }

    #[test]
    fn the_functions_of_a_rust_tool_are_those_that_its_component_dispatches_to() {
        let api = "[package]\nname = 'orders'\n[package.metadata.lathe.apis.create]\ndescription = 'Creates.'\n";
        let function = ApiFunction { module: "run-tool".into(), name: "create".into() };
        assert_eq!(in_file("Cargo.toml", api).unwrap().apis[&name("create")].function, function);
        let refused = in_file("Cargo.toml", &format!("{api}entry_point = 'a:b'")).unwrap_err().to_string();
        assert!(refused.contains("package.metadata.lathe.apis.create.entry_point is an unknown key"), "{refused}");
    }
}
