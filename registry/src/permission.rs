//! What a user may do, one name per right, as the contract spells them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::InvalidValue;

macro_rules! permissions {
    ($($(#[doc = $doc:literal])* $name:ident = $wire:literal,)*) => {
        /// One right of a user within an organisation. Displays by its wire name.
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
    /// Manage users, roles and everybody's keys.
    Administer = "Organization:Admin",
    /// One's own account and keys, and what its handler checks by itself. Everybody who is signed in has it; no role gives
    /// or takes it.
    OwnAccount = "User:Self",
}

impl Permission {
    /// Reads a permission that a role can give.
    pub fn parse(text: &str) -> Result<Self, InvalidValue> {
        let found = Self::grantable().find(|permission| permission.as_str() == text);
        found.ok_or(InvalidValue::new(
            "permission",
            "must be one that docs/permissions.md lists, such as Tool:InvokeTool",
        ))
    }

    /// Those that roles give.
    pub fn grantable() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|permission| *permission != Self::OwnAccount)
    }

    /// Whether there are operations on one tool that it opens, so that a condition on the tool can mean something.
    pub const fn can_be_conditional(self) -> bool {
        match self {
            Self::ModifyTool | Self::DeleteTool | Self::InvokeTool | Self::GetTool | Self::GetInvocation => true,
            Self::CreateTool | Self::AccessRepo | Self::TestTool | Self::Administer | Self::OwnAccount => false,
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

/// A set of rights.
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
