//! What a user may do, one name per right, as the contract spells them.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! permissions {
    ($($(#[doc = $doc:literal])* $name:ident = $wire:literal,)*) => {
        /// One right of a user within an organisation. Displays by its wire name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    Administer = "Organization:Admin",
}

impl Permission {
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Permission>", into = "Vec<Permission>")]
pub struct PermissionSet(u32);

impl PermissionSet {
    pub fn all() -> Self {
        Permission::ALL.iter().copied().collect()
    }

    pub const fn contains(self, permission: Permission) -> bool {
        self.0 & permission.bit() != 0
    }

    pub fn iter(self) -> impl Iterator<Item = Permission> {
        Permission::ALL.iter().copied().filter(move |permission| self.contains(*permission))
    }
}

impl FromIterator<Permission> for PermissionSet {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self(permissions.into_iter().fold(0, |bits, permission| bits | permission.bit()))
    }
}

impl From<Vec<Permission>> for PermissionSet {
    fn from(permissions: Vec<Permission>) -> Self {
        permissions.into_iter().collect()
    }
}

impl From<PermissionSet> for Vec<Permission> {
    fn from(permissions: PermissionSet) -> Self {
        permissions.iter().collect()
    }
}
