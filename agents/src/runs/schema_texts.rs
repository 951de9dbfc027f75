//! The input schemas of tools as model APIs read them, which the requests to models that are under way share. Fifty runs of an agent ask at the same time, each
//! for minutes, and its schemas may have megabytes.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use bytes::Bytes;
use parking_lot::Mutex;

use crate::catalogue::{ListedSource, ListedTool};

/// The texts that requests use. Each is dropped with its last request.
#[derive(Debug, Clone, Default)]
pub(super) struct SchemaTexts(Arc<Mutex<HashMap<String, Weak<str>>>>);

impl SchemaTexts {
    /// The schema of a tool. It is written for the first of several requests.
    pub fn of(&self, tool: &ListedTool) -> Bytes {
        let key = build_key(tool);
        if let Some(text) = self.0.lock().get(&key).and_then(Weak::upgrade) {
            return Bytes::from_owner(SharedText(text));
        }
        let text: Arc<str> = tool.model_input_schema_text().into();
        let mut texts = self.0.lock();
        texts.retain(|_, text| text.strong_count() > 0);
        texts.insert(key, Arc::downgrade(&text));
        Bytes::from_owner(SharedText(text))
    }
}

/// The version, which never changes, and its API; or the native tool.
fn build_key(tool: &ListedTool) -> String {
    match &tool.source {
        ListedSource::Native(native) => format!("native/{}", native.name),
        ListedSource::Published { callable, api, .. } => {
            let api = api.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("{}/{api}", callable.version.id)
        }
    }
}

struct SharedText(Arc<str>);

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform_tools::tools_for_tests;

    #[test]
    fn requests_at_the_same_time_share_a_text() {
        let (texts, natives) = (SchemaTexts::default(), tools_for_tests());
        let tool = |native: &Arc<_>| ListedTool::new("x".to_owned(), ListedSource::Native(Arc::clone(native)));
        let tools: Vec<_> = natives.iter().take(2).map(tool).collect();
        let (first, second) = (texts.of(&tools[0]), texts.of(&tools[0]));
        assert_eq!((first.as_ptr(), first.len()), (second.as_ptr(), second.len()));
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&first).unwrap(), *tools[0].input_schema());
        assert_ne!(texts.of(&tools[1]), first);
        drop((first, second));
        let _third = texts.of(&tools[1]);
        assert_eq!(texts.0.lock().len(), 1, "texts without a request are gone");
    }
}
