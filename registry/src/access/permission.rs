//! The permissions, with their names in the API.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::suggestion::did_you_mean;

macro_rules! permissions {
    ($($(#[doc = $doc:literal])* $name:ident = $wire:literal,)*) => {
        /// A permission of a user within an organisation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        pub enum Permission {
            $($(#[doc = $doc])* #[serde(rename = $wire)] $name,)*
        }

        impl Permission {
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $wire,)* }
            }
        }
    };
}

permissions! {
    CreateTool = "Tool:CreateTool",
    ModifyTool = "Tool:ModifyTool",
    DeleteTool = "Tool:DeleteTool",
    InvokeTool = "Tool:InvokeTool",
    /// Read and write the organisation's repository.
    AccessRepo = "Tool:AccessRepo",
    /// See tools, their versions and the scaffold.
    GetTool = "Tool:GetTool",
    /// Build and run a branch without publishing.
    TestTool = "Tool:TestTool",
    /// Read and search the history of runs.
    GetInvocation = "Tool:GetInvocation",
    CreateAgent = "Agent:CreateAgent",
    /// Change agents and their assignments: the draft, which does not run.
    ModifyAgent = "Agent:ModifyAgent",
    DeleteAgent = "Agent:DeleteAgent",
    /// See agents, their drafts and their revisions.
    GetAgent = "Agent:GetAgent",
    /// Make the draft of an agent the running revision.
    DeployAgent = "Agent:DeployAgent",
    /// Manage users, roles and the keys of all users.
    Administer = "Organization:Admin",
    /// Read and manage one's own account and keys. Every signed-in user has it; roles cannot grant it.
    OwnAccount = "User:Self",
}

impl Permission {
    /// Parses a permission that a role can grant.
    ///
    /// # Errors
    /// When there is no such permission, with the names of all that roles can grant.
    pub fn parse(text: &str) -> Result<Self, String> {
        let found = Self::grantable().find(|permission| permission.as_str() == text);
        found.ok_or_else(|| {
            let names: Vec<_> = Self::grantable().map(Self::as_str).collect();
            let suggestion = did_you_mean(text, names.iter().copied());
            format!("must be a permission that roles can grant: {}{suggestion}", names.join(", "))
        })
    }

    /// The permissions that roles can grant.
    pub fn grantable() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|permission| *permission != Self::OwnAccount)
    }

    /// Whether the permission covers operations on a single tool, so that a grant may have conditions.
    pub const fn can_be_conditional(self) -> bool {
        match self {
            Self::ModifyTool | Self::DeleteTool | Self::InvokeTool | Self::GetTool | Self::GetInvocation => true,
            Self::CreateTool | Self::AccessRepo | Self::TestTool | Self::Administer | Self::OwnAccount => false,
            Self::CreateAgent | Self::ModifyAgent | Self::DeleteAgent | Self::GetAgent | Self::DeployAgent => false,
        }
    }

    const fn bit(self) -> u32 {
        1 << self as u32
    }
}

impl fmt::Display for Permission {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A set of permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PermissionSet(u32);

impl PermissionSet {
    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | permission.bit()))
    }
}
