//! Pages of lists: items, whether there are more of them, and the token of the next page.

use registry::Slice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Agent, ApiKey, Conversation, Deployment, Hold, Tool, ToolInvocation, ToolVersion, User, VersionUser};

/// A page of a list, as a client reads it.
pub trait ListPage {
    /// The member with the items.
    const ITEMS: &'static str;
}

macro_rules! list_pages {
    ($($(#[doc = $doc:literal])* $name:ident { $items:ident: $item:ty })*) => {$(
        $(#[doc = $doc])*
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        pub struct $name {
            pub $items: Vec<$item>,
            pub has_more: bool,
            pub continuation_token: Option<u64>,
        }

        impl $name {
            pub(crate) fn new<Stored>(slice: Slice<Stored>, item: impl FnMut(Stored) -> $item) -> Self {
                let Slice { items, next } = slice;
                let $items = items.into_iter().map(item).collect();
                Self { $items, has_more: next.is_some(), continuation_token: next }
            }
        }

        impl ListPage for $name {
            const ITEMS: &'static str = stringify!($items);
        }
    )*};
}

list_pages! {
    AgentList { agents: Agent }
    AgentRevisionList { revisions: Deployment }
    /// A page of keys.
    ApiKeyList { api_keys: ApiKey }
    ConversationList { conversations: Conversation }
    HoldList { holds: Hold }
    InvocationList { tool_invocations: ToolInvocation }
    UserList { users: User }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    pub tools: Vec<Tool>,
    pub has_more: bool,
    pub continuation_token: Option<u64>,
    /// The values that filters can use; on the first page only.
    pub filter_values: Option<ToolFilterValues>,
}

/// The values that a filter of tools can use.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolFilterValues {
    pub tags: Vec<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ToolVersionList {
    pub tool_versions: Vec<ToolVersion>,
    pub has_more: bool,
    pub continuation_token: Option<u64>,
    /// The values that filters can use; on the first page only.
    pub filter_values: Option<VersionFilterValues>,
}

/// The values that a filter of versions can use.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct VersionFilterValues {
    pub creators: Vec<VersionUser>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentTools {
    /// The revision whose tools are listed.
    pub revision: u32,
    /// The definitions, in the requested form and in a fixed order.
    #[schemars(with = "Vec<Value>")]
    pub tools: Vec<Box<RawValue>>,
    /// Names of tools that are left out: their newest versions have schemas with which those of all tools exceed 8 MiB.
    pub left_out: Vec<String>,
    pub has_more: bool,
    pub continuation_token: Option<u64>,
}

impl ListPage for ToolList {
    const ITEMS: &'static str = "tools";
}

impl ListPage for ToolVersionList {
    const ITEMS: &'static str = "tool_versions";
}

impl ListPage for AgentTools {
    const ITEMS: &'static str = "tools";
}
