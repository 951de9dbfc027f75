//! The APIs of a tool: the declared ones are compared with the functions that the code exports, and their schemas become the
//! input schema of the tool.

mod combined;
mod report;

use std::collections::{BTreeMap, BTreeSet};

use registry::{ApiName, Intervention, ToolApi};
use serde_json::Value;

use crate::error::{Error, Location};
use crate::steps::manifest::{Api, Manifest};
use crate::steps::schema;
use crate::text::show;

pub use combined::build_input_schema;
pub use report::ApiReport;
use report::STAGE;

/// The schema files of an API.
#[derive(Debug, Default)]
pub struct ApiSchemas {
    pub input: Option<Value>,
    pub output: Option<Value>,
}

/// Reads the schema files of all APIs.
///
/// # Errors
/// When a file is missing, is not JSON, or is not the schema of an object.
pub fn read_schemas(
    manifest: &Manifest,
    files: &BTreeMap<String, Vec<u8>>,
) -> Result<BTreeMap<ApiName, ApiSchemas>, Error> {
    let read = |path: &Option<String>, check| path.as_deref().map(|path| schema::read(files, path, check)).transpose();
    let of = |(name, api): (&ApiName, &Api)| {
        let input = read(&api.input_schema, schema::INPUT)?;
        Ok((name.clone(), ApiSchemas { input, output: read(&api.output_schema, schema::OUTPUT)? }))
    };
    manifest.apis.iter().map(of).collect()
}

/// Joins the declarations with what the code reported.
///
/// # Errors
/// When the code exports other functions than the declared ones, or a derived schema is refused.
pub fn build_settings(
    manifest: &Manifest,
    mut files: BTreeMap<ApiName, ApiSchemas>,
    mut report: ApiReport,
) -> Result<BTreeMap<ApiName, ToolApi>, Error> {
    schema::check_outputs_together(files.values().filter_map(|schemas| schemas.output.as_ref()))?;
    compare(&report, list_declared(&manifest.apis))?;
    report.check()?;
    let of = |(name, api): (&ApiName, &Api)| {
        let ApiSchemas { input, output } = files.remove(name).unwrap_or_default();
        let input_schema = match input {
            Some(schema) => schema,
            None => schema::check_api(name, report.schemas.remove(name).unwrap_or_default())?,
        };
        let made = ToolApi {
            description: api.description.clone(),
            input_schema: input_schema.into(),
            output_schema: output.map(Into::into),
            annotations: api.annotations.clone(),
            intervention: choose_effective(api, manifest.intervention),
        };
        Ok((name.clone(), made))
    };
    manifest.apis.iter().map(of).collect()
}

/// Refuses code that exports functions of APIs without a declaration of any. Only a tool in Rust can: the builder writes what other
/// languages report.
///
/// # Errors
/// When the derived schema is a report.
pub fn check_undeclared(derived: &str) -> Result<(), Error> {
    let Ok(report) = ApiReport::read(derived) else { return Ok(()) };
    compare(&report, BTreeMap::from_iter(report.modules.keys().map(|module| (&**module, BTreeSet::new()))))
}

fn choose_effective(api: &Api, of_tool: Intervention) -> Intervention {
    api.intervention.unwrap_or(of_tool)
}

/// The functions of the declared APIs by module.
fn list_declared(apis: &BTreeMap<ApiName, Api>) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut declared = BTreeMap::<_, BTreeSet<_>>::new();
    for api in apis.values() {
        declared.entry(&*api.function.module).or_default().insert(&*api.function.name);
    }
    declared
}

/// Refuses a module whose exported functions are not those of its APIs.
fn compare(report: &ApiReport, declared: BTreeMap<&str, BTreeSet<&str>>) -> Result<(), Error> {
    for (module, functions) in declared {
        let found = report.modules.get(module);
        let mut exported: Vec<_> = found.iter().flat_map(|found| &found.functions).map(String::as_str).collect();
        exported.sort_unstable();
        // A name that is there twice differs, too: one of its functions would never be called.
        if !functions.iter().eq(&exported) {
            let message = format!(
                "the declared APIs are not the exported functions: declared {}, exported {}; declare each exported function \
                 in `apis`, and export no others",
                join_names(&functions),
                join_names(&exported)
            );
            let location = found.map_or_else(Location::default, |found| Location::file(&found.file));
            return Err(Error::failed(STAGE, "apis", message).at(location));
        }
    }
    Ok(())
}

fn join_names<'n>(names: impl IntoIterator<Item = &'n &'n str>) -> String {
    let names: Vec<_> = names.into_iter().map(|name| show(name)).collect();
    if names.is_empty() { "nothing".to_owned() } else { format!("`{}`", names.join(", ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::steps::documents::Documents;

    fn manifest(apis: &str) -> Manifest {
        let text = format!("[project]\nname = 'orders'\n[tool.lathe]\nintervention = 'required'\n{apis}");
        let files = BTreeMap::from([("pyproject.toml".to_owned(), text.into())]);
        Manifest::read(&Documents::parse_here(&files).unwrap(), &files).unwrap()
    }

    fn api(name: &str, more: &str) -> String {
        format!("[tool.lathe.apis.{name}]\ndescription = 'An API.'\n{more}\n")
    }

    fn build(manifest: &Manifest, report: &Value) -> Result<BTreeMap<ApiName, ToolApi>, Error> {
        build_settings(manifest, BTreeMap::new(), ApiReport::read(&report.to_string())?)
    }

    fn orders(functions: &[&str]) -> Value {
        json!({"modules": {"tool": {"file": "tool.py", "functions": functions}}, "schemas": {"create": {"type": "object"}}})
    }

    #[test]
    fn other_functions_than_the_declared_ones_are_refused_with_both_lists() {
        let two = manifest(&(api("create", "") + &api("list", "")));
        let refusal = |functions: &[&str]| build(&two, &orders(functions)).unwrap_err().to_string();
        let drift = refusal(&["create", "remove"]);
        let expected = "compile failed (apis): tool.py: the declared APIs are not the exported functions: declared \
                        `create, list`, exported `create, remove`; declare";
        assert!(drift.starts_with(expected), "{drift}");
        assert!(refusal(&["create"]).contains("declared `create, list`, exported `create`;"));
        assert!(refusal(&["create", "list", "more"]).contains("exported `create, list, more`;"));
        assert!(refusal(&[]).contains("exported nothing;"));
        assert!(refusal(&["create", "create", "list"]).contains("exported `create, create, list`;"));
        let none = build(&two, &json!({"modules": {}, "schemas": {}})).unwrap_err().to_string();
        assert!(none.contains("exported nothing;"), "{none}");
    }

    #[test]
    fn exported_apis_are_declared() {
        let refused = check_undeclared(&orders(&["list", "create"]).to_string()).unwrap_err().to_string();
        assert!(
            refused.contains("tool.py: ") && refused.contains("declared nothing, exported `create, list`;"),
            "{refused}"
        );
        assert!(check_undeclared(r#"{"type": "object", "properties": {"modules": {}}}"#).is_ok());
        assert!(check_undeclared("").is_ok());
    }

    #[test]
    fn each_module_is_compared_with_the_functions_of_its_apis() {
        let two = manifest(&(api("create", "entry_point = 'new:make'") + &api("list", "")));
        let report = |made: &str| {
            json!({"modules": {
                "new": {"file": "new.py", "functions": [made]}, "tool": {"file": "tool.py", "functions": ["list"]},
            }, "schemas": {"create": {"type": "object"}, "list": {"type": "object"}}})
        };
        assert!(build(&two, &report("make")).is_ok());
        let drift = build(&two, &report("create")).unwrap_err().to_string();
        assert!(drift.contains("new.py: ") && drift.contains("declared `make`, exported `create`"), "{drift}");
    }

    #[test]
    fn the_declaration_of_an_api_counts_over_that_of_the_tool() {
        let declared = manifest(&(api("create", "") + &api("list", "intervention = 'never'")));
        let mut report = orders(&["create", "list"]);
        report["schemas"]["list"] = json!({"type": "object"});
        let made: Vec<_> = build(&declared, &report).unwrap().into_values().map(|api| api.intervention).collect();
        assert_eq!(made, [Intervention::Required, Intervention::Never]);
    }

    #[test]
    fn the_schema_of_an_api_is_one_of_an_object() {
        let refused = build(&manifest(&api("list", "")), &orders(&["list"])).unwrap_err().to_string();
        assert!(refused.contains("list"), "{refused}");
        let mut report = orders(&["create"]);
        report["schemas"]["create"] = json!({"type": "objekt"});
        let refused = build(&manifest(&api("create", "")), &report).unwrap_err().to_string();
        assert!(refused.contains("create: /type: \"objekt\" is no type"), "{refused}");
    }
}
