//! The native tools of a server, and their check at its start.

use std::sync::Arc;

use serde_json::Value;

use super::bounds::require_bounds;
use super::refused::NativeToolRefused;
use super::spec::NativeToolSpec;
use super::tool::{NativeCall, NativeTool, ShownSchemas};
use super::tool_route::ToolRoute;
use crate::calls::schema::InputSchema;

/// Characters of a name for callers, with the family.
const NAME_CHARACTERS_MAX: usize = 64;

/// The native tools of a server, in the order of their names.
#[derive(Debug, Clone, Default)]
pub struct NativeTools(Arc<[Arc<NativeTool>]>);

impl NativeTools {
    /// Checks declarations: each tool has its texts, a permission, schemas and a handler, and a name of its own. `context` makes what the
    /// handlers take of a call, and `show` the schemas that clients read.
    ///
    /// # Errors
    /// The first tool that lacks something.
    pub fn check<'s, C: 'static>(
        specs: impl IntoIterator<Item = &'s NativeToolSpec<C>>,
        context: impl Fn(NativeCall) -> C + Clone + Send + Sync + 'static,
        show: fn(Value, Value) -> ShownSchemas,
    ) -> Result<Self, NativeToolRefused> {
        let complete = |spec: &NativeToolSpec<C>| spec.complete(context.clone(), show);
        let mut tools = specs.into_iter().map(complete).collect::<Result<Vec<_>, _>>()?;
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        if let Some(pair) = tools.windows(2).find(|pair| pair[0].name == pair[1].name) {
            return Err(NativeToolRefused::Twice { name: pair[0].name.clone() });
        }
        Ok(Self(tools.into_iter().map(Arc::new).collect()))
    }

    /// Iterates over the tools in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<NativeTool>> {
        self.0.iter()
    }
}

impl<C: 'static> NativeToolSpec<C> {
    /// Checks the declaration. `context` makes what the handler takes of a call, and `show` the schemas of inputs and outputs that
    /// clients read.
    ///
    /// # Errors
    /// When a part is missing or invalid.
    pub fn complete(
        &self,
        context: impl Fn(NativeCall) -> C + Send + Sync + 'static,
        show: fn(Value, Value) -> ShownSchemas,
    ) -> Result<NativeTool, NativeToolRefused> {
        let name = self.name.to_owned();
        let text = |text: Option<&'static str>, part| {
            text.filter(|text| !text.trim().is_empty()).ok_or_else(|| report_missing(&name, part))
        };
        let (title, description) = (text(self.title, "title")?, text(self.description, "description")?);
        let permission = self.permission.ok_or_else(|| report_missing(&name, "permission"))?;
        let effect = self.effect.ok_or_else(|| report_missing(&name, "effect"))?;
        let handler = self.handler.ok_or_else(|| report_missing(&name, "handler"))?;
        let input_schema = self.input_schema.ok_or_else(|| report_missing(&name, "input schema"))?();
        let output_schema = self.output_schema.ok_or_else(|| report_missing(&name, "output schema"))?();
        if self.name.is_empty() || name.len() > NAME_CHARACTERS_MAX || !name.bytes().all(is_of_a_name) {
            let problem = "the name must have 1 to 64 characters of a-z 0-9 _".to_owned();
            return Err(NativeToolRefused::Invalid { name, problem });
        }
        self.check_routes(&input_schema)?;
        let input = compile_schema(&name, &input_schema)?;
        let output = compile_schema(&name, &output_schema)?;
        require_bounds(&name, &input_schema, self.bounded_by_handler)?;
        let family = self.family;
        Ok(NativeTool {
            name,
            family,
            title,
            description,
            effect,
            reach: self.reach,
            shown: show(input_schema.clone(), output_schema.clone()),
            input_schema,
            output_schema,
            permission,
            has_envelope: self.has_envelope,
            handler: Box::new(move |call| handler(context(call))),
            input,
            output,
        })
    }

    /// Routes show envelopes, and the parameters of their paths are arguments.
    fn check_routes(&self, input_schema: &Value) -> Result<(), NativeToolRefused> {
        let invalid = |problem| Err(NativeToolRefused::Invalid { name: self.name.to_owned(), problem });
        if !self.routes.is_empty() && !self.has_envelope {
            return invalid("only tools with envelopes have routes".to_owned());
        }
        let mut parameters = self.routes.iter().flat_map(ToolRoute::parameters);
        match parameters.find(|name| input_schema["properties"].get(name).is_none()) {
            Some(odd) => invalid(format!("{odd} in a path is no argument")),
            None => Ok(()),
        }
    }
}

const fn is_of_a_name(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')
}

fn report_missing(name: &str, part: &'static str) -> NativeToolRefused {
    NativeToolRefused::Incomplete { name: name.to_owned(), part }
}

/// Compiles the schema of an object.
fn compile_schema(name: &str, schema: &Value) -> Result<InputSchema, NativeToolRefused> {
    let invalid = |problem| NativeToolRefused::Invalid { name: name.to_owned(), problem };
    if schema["type"] != "object" {
        return Err(invalid("a schema does not describe an object".to_owned()));
    }
    InputSchema::compile(schema).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use registry::Permission;
    use serde_json::json;

    use super::super::effect::ToolEffect;
    use super::*;
    use crate::sandbox::outcome::Outcome;

    fn spec() -> NativeToolSpec {
        NativeToolSpec {
            title: Some("Count"),
            description: Some("Counts."),
            permission: Some(Permission::GetTool),
            effect: Some(ToolEffect::ReadOnly),
            input_schema: Some(|| json!({"type": "object"})),
            output_schema: Some(|| json!({"type": "object"})),
            handler: Some(|_| Box::pin(async { Outcome::Succeeded { output: "{}".to_owned() } })),
            ..NativeToolSpec::new("lathe", "lathe__count")
        }
    }

    fn show(input: Value, output: Value) -> ShownSchemas {
        ShownSchemas { input, output: Some(output) }
    }

    fn refused(spec: NativeToolSpec) -> String {
        NativeTools::check(&[spec], |call| call, show).unwrap_err().to_string()
    }

    #[test]
    fn a_complete_tool_is_accepted() {
        let tools = NativeTools::check(&[spec()], |call| call, show).unwrap();
        assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["lathe__count"]);
    }

    #[test]
    fn an_incomplete_tool_stops_the_start_and_names_what_is_missing() {
        let part = |spec| refused(spec).replace("the native tool lathe__count has no ", "");
        assert_eq!(part(NativeToolSpec { title: None, ..spec() }), "title");
        assert_eq!(part(NativeToolSpec { description: Some(" "), ..spec() }), "description");
        assert_eq!(part(NativeToolSpec { permission: None, ..spec() }), "permission");
        assert_eq!(part(NativeToolSpec { effect: None, ..spec() }), "effect");
        assert_eq!(part(NativeToolSpec { handler: None, ..spec() }), "handler");
        assert_eq!(part(NativeToolSpec { input_schema: None, ..spec() }), "input schema");
        assert_eq!(part(NativeToolSpec { output_schema: None, ..spec() }), "output schema");
    }

    #[test]
    fn a_name_or_a_schema_that_clients_refuse_stops_the_start() {
        let long = "a".repeat(65);
        for name in ["", "Count", "co-unt", long.leak()] {
            let refused = refused(NativeToolSpec { name, ..spec() });
            assert!(refused.ends_with("characters of a-z 0-9 _"), "{refused}");
        }
        let refused = refused(NativeToolSpec { input_schema: Some(|| json!({"type": "string"})), ..spec() });
        assert!(refused.ends_with("does not describe an object"), "{refused}");
    }

    #[test]
    fn a_text_without_a_bound_stops_the_start() {
        let text = || json!({"type": "object", "properties": {"query": {"type": "string"}}});
        let refused = refused(NativeToolSpec { input_schema: Some(text), ..spec() });
        assert!(refused.contains("the input at /query has no bound"), "{refused}");
    }

    #[test]
    fn a_route_that_does_not_fit_its_tool_stops_the_start() {
        const ROUTES: &[ToolRoute] = &[ToolRoute::get("/api/v1/counts/{count_id}")];
        assert!(refused(spec().at(ROUTES)).ends_with("only tools with envelopes have routes"));
        let with_envelope = NativeToolSpec { has_envelope: true, ..spec() };
        assert!(refused(with_envelope.at(ROUTES)).ends_with("count_id in a path is no argument"));
    }

    #[test]
    fn two_tools_with_one_name_stop_the_start() {
        let refused = NativeTools::check(&[spec(), spec()], |call| call, show).unwrap_err();
        assert_eq!(refused, NativeToolRefused::Twice { name: "lathe__count".to_owned() });
    }
}
