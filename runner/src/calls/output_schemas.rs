//! The compiled schemas of a version's outputs: one of the tool, or one of each API that has one.

use std::collections::BTreeMap;

use registry::{ApiName, HeapBytes, VersionSettings};
use serde::Deserialize;

use crate::calls::schema::{self, InputSchema};
use crate::error::Error;

/// The output schemas of a version.
#[derive(Debug, Default)]
pub(crate) struct OutputSchemas {
    of_tool: Option<InputSchema>,
    /// `None` for a tool of one function.
    of_apis: Option<BTreeMap<ApiName, InputSchema>>,
}

/// The API of an input.
#[derive(Deserialize)]
struct NamedApi {
    api: ApiName,
}

impl OutputSchemas {
    /// Compiles the schemas on blocking threads.
    ///
    /// # Errors
    /// `InvalidInput` when this release refuses a schema.
    pub async fn compile(settings: &VersionSettings) -> Result<Self, Error> {
        let of_tool = schema::compile(settings.output_schema.as_ref()).await?;
        if settings.apis.is_empty() {
            return Ok(Self { of_tool, of_apis: None });
        }
        let mut of_apis = BTreeMap::new();
        for (name, api) in &settings.apis {
            if let Some(schema) = schema::compile(api.output_schema.as_ref()).await? {
                of_apis.insert(name.clone(), schema);
            }
        }
        Ok(Self { of_tool, of_apis: Some(of_apis) })
    }

    /// The schema of the outputs for an input, which is the text of a JSON object.
    pub fn of_input(&self, tool_input: &str) -> Option<&InputSchema> {
        match &self.of_apis {
            None => self.of_tool.as_ref(),
            Some(apis) if apis.is_empty() => None,
            Some(apis) => apis.get(&serde_json::from_str::<NamedApi>(tool_input).ok()?.api),
        }
    }
}

impl HeapBytes for OutputSchemas {
    fn heap_bytes(&self) -> usize {
        self.of_tool.heap_bytes() + self.of_apis.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn settings(more: &serde_json::Value) -> VersionSettings {
        let mut settings = json!({
            "language": "python", "entry_point": "tool", "allowed_hosts": [], "timeout_ms": 1, "memory_bytes": 1,
            "secret_hosts": {}, "limits": {}, "tape": true, "recorded_answers": false,
            "world": {"name": "lathe:tool/tool@0.1.0", "imports": [], "exports": ["run-tool"]},
        });
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        serde_json::from_value(settings).unwrap()
    }

    #[tokio::test]
    async fn the_output_of_an_api_has_its_schema() {
        let number = json!({"type": "integer"});
        let tool = OutputSchemas::compile(&settings(&json!({ "output_schema": number }))).await.unwrap();
        assert!(tool.of_input("{}").is_some());
        let apis = json!({"apis": {
            "count": {"description": "Counts.", "input_schema": {}, "output_schema": number},
            "list": {"description": "Lists.", "input_schema": {}},
        }});
        let apis = OutputSchemas::compile(&settings(&apis)).await.unwrap();
        for (input, has_schema) in [
            (r#"{"api": "count", "arguments": {}}"#, true),
            (r#"{"api": "list", "arguments": {}}"#, false),
            (r#"{"api": "other"}"#, false),
            ("{}", false),
        ] {
            assert_eq!(apis.of_input(input).is_some(), has_schema, "{input}");
        }
    }
}
