//! The tools that an agent lists: all of them, or two that find and run them.

use std::sync::Arc;

use agents::{Catalogue, ListedSource, ListedTool, RUN_TOOL, SEARCH_TOOLS, ToolExposure, search_tools};
use registry::{RawJson, did_you_mean};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::listing::{read_object, render_native, render_tool};
use super::tool_call_request::ToolCallRequest;

/// Bytes of the schemas of one page. They are parsed for the page, which takes some thirty times as much memory.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// Bytes of the name of a tool for models.
const NAME_BYTES_MAX: usize = 64;

/// The tool that a request calls.
pub enum Called {
    Tool(ListedTool, ToolCallRequest),
    /// The result of `run_tool` for arguments without a tool.
    Failed(CallToolResult),
}

/// The tools that an agent lists, by its exposure.
pub struct Exposed<'a>(pub &'a Arc<Catalogue>);

impl Exposed<'_> {
    /// Returns the definitions from `start`, at most `count` with [`PAGE_BYTES_MAX`] together but at least one, and the number of all.
    pub fn list_definitions(&self, start: usize, count: usize) -> Result<(Vec<Tool>, usize), ErrorData> {
        let tools = match self.find_exposure() {
            ToolExposure::Full => {
                let tools = self.0.tools.get(start..).unwrap_or_default();
                let count = count_fitting(tools.iter().take(count).map(ListedTool::schema_bytes));
                return Ok((tools.iter().take(count).map(render_tool).collect(), self.0.tools.len()));
            }
            ToolExposure::Search => vec![describe_run_tool(), render_native(SEARCH_TOOLS, &self.search()?)],
        };
        Ok((tools.into_iter().skip(start).take(count).collect(), 2))
    }

    /// Returns the name and the input schema of a tool that is listed, with which the headers of a call are compared.
    pub fn find_header_form(&self, name: &str) -> Option<Tool> {
        match (self.find_exposure(), name) {
            (ToolExposure::Full, name) => {
                let schema = read_object(self.0.find(name)?.input_schema().into_owned());
                Some(Tool::new_with_raw(name.to_owned(), None, schema))
            }
            (ToolExposure::Search, RUN_TOOL) => Some(describe_run_tool()),
            (ToolExposure::Search, SEARCH_TOOLS) => self.search().ok().map(|tool| render_native(SEARCH_TOOLS, &tool)),
            (ToolExposure::Search, _) => None,
        }
    }

    /// Returns the tool that a request calls. A tool that is not listed is unknown.
    pub fn find_called(&self, request: ToolCallRequest) -> Result<Called, ErrorData> {
        let unknown = |name: &str| {
            let listed = if self.find_exposure() == ToolExposure::Full {
                self.0.suggest(name)
            } else {
                did_you_mean(name, [SEARCH_TOOLS, RUN_TOOL])
            };
            ErrorData::invalid_params(format!("Unknown tool: {name}{listed}"), None)
        };
        match (self.find_exposure(), request.name.as_str()) {
            (ToolExposure::Full, name) => {
                let listed = self.0.find(name).cloned().ok_or_else(|| unknown(name))?;
                Ok(Called::Tool(listed, request))
            }
            (ToolExposure::Search, SEARCH_TOOLS) => {
                let source = ListedSource::Native(Arc::new(self.search()?));
                Ok(Called::Tool(ListedTool::new(SEARCH_TOOLS.to_owned(), source), request))
            }
            (ToolExposure::Search, RUN_TOOL) => Ok(self.run(request)),
            (ToolExposure::Search, name) => Err(unknown(name)),
        }
    }

    fn find_exposure(&self) -> ToolExposure {
        self.0.running.revision.content.tool_exposure
    }

    fn search(&self) -> Result<runner::NativeTool, ErrorData> {
        search_tools(self.0.clone()).map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    /// Replaces a call of `run_tool` by the call of the tool that its arguments name.
    fn run(&self, request: ToolCallRequest) -> Called {
        let Ok(mut given) = request.arguments.members() else {
            return refuse_call("input_schema: the arguments nest too deeply");
        };
        let name = given.remove("name").and_then(|name| name.as_str().map(str::to_owned));
        let Some(name) = name.filter(|name| name.len() <= NAME_BYTES_MAX) else {
            return refuse_call("input_schema: /name: should be the name of a tool that search_tools returned");
        };
        let Some(listed) = self.0.find(&name).cloned() else {
            let meant = self.0.suggest(&name);
            return refuse_call(&format!("tool_unknown: there is no tool {name}; find one with search_tools{meant}"));
        };
        let arguments = match given.remove("arguments") {
            None => RawJson::default(),
            Some(Value::Object(arguments)) => arguments.into(),
            Some(_) => return refuse_call("input_schema: /arguments: should be an object"),
        };
        match given.keys().next() {
            Some(_) => refuse_call("input_schema: run_tool has the fields name and arguments only"),
            None => Called::Tool(listed, ToolCallRequest { arguments, ..request }),
        }
    }
}

/// Returns the number of definitions that a page has, of definitions with so many bytes.
fn count_fitting(sizes: impl Iterator<Item = usize>) -> usize {
    let mut left = PAGE_BYTES_MAX;
    sizes.take_while(|bytes| left.checked_sub(*bytes).inspect(|rest| left = *rest).is_some()).count().max(1)
}

fn refuse_call(text: &str) -> Called {
    Called::Failed(CallToolResult::error(vec![ContentBlock::text(text)]))
}

fn describe_run_tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": NAME_BYTES_MAX, "description": "The name of the tool, as search_tools returned it."},
            "arguments": {"type": "object", "description": "The arguments, which match the input schema of the tool."},
        },
        "required": ["name"],
        "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let mut tool =
        Tool::new(RUN_TOOL, "Runs a tool that search_tools found, and returns its result.", Arc::new(schema));
    tool.title = Some("Run a tool".to_owned());
    tool.annotations = Some(ToolAnnotations::with_title("Run a tool"));
    tool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_bound_in_bytes_and_at_least_one_tool() {
        const HALF: usize = PAGE_BYTES_MAX / 2;
        for (sizes, expected) in
            [(&[10, 10, 10][..], 3), (&[HALF, HALF, 1], 2), (&[HALF, HALF + 1, 1], 1), (&[PAGE_BYTES_MAX + 1, 1], 1)]
        {
            assert_eq!(count_fitting(sizes.iter().copied()), expected, "{sizes:?}");
        }
    }
}
