//! Roles: named lists of grants. Four are built in; an organisation can add its own.

use super::grant::Grants;
use super::permission::Permission;
use crate::kit::clock::Timestamp;
use crate::kit::text_type::{made_of, text_type};

text_type! {
    /// The name of a role.
    RoleName = "role", "must be 1 to 64 characters of a-z 0-9 _ -", |text| {
        made_of(text, RoleName::BYTES_MAX, |c| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-'))
    };
}

impl RoleName {
    /// Length of a role name.
    pub const BYTES_MAX: usize = 64;
}

/// A named list of grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    pub name: RoleName,
    pub grants: Grants,
    /// `None` for built-in roles.
    pub custom: Option<RoleTimes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoleTimes {
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// The role of the first user of an organisation.
pub(crate) const ADMINISTRATOR: &str = "admin";

const BUILT_IN: [&str; 4] = [ADMINISTRATOR, "author", "invoker", "auditor"];

const AUTHOR: [Permission; 13] = [
    Permission::CreateTool,
    Permission::ModifyTool,
    Permission::DeleteTool,
    Permission::TestTool,
    Permission::GetTool,
    Permission::AccessRepo,
    Permission::InvokeTool,
    Permission::GetInvocation,
    Permission::CreateAgent,
    Permission::ModifyAgent,
    Permission::DeleteAgent,
    Permission::GetAgent,
    Permission::DeployAgent,
];
const INVOKER: [Permission; 3] = [Permission::InvokeTool, Permission::GetTool, Permission::GetAgent];
const AUDITOR: [Permission; 3] = [Permission::GetTool, Permission::GetInvocation, Permission::GetAgent];

impl Role {
    /// Returns the roles that every organisation has.
    pub fn built_in() -> Vec<Self> {
        let names = BUILT_IN.iter().filter_map(|name| RoleName::parse(name).ok());
        names.filter_map(|name| Self::find_built_in(&name)).collect()
    }

    pub(crate) fn find_built_in(name: &RoleName) -> Option<Self> {
        let grants = match name.as_str() {
            ADMINISTRATOR => Grants::everything(),
            "author" => Grants::of(AUTHOR),
            "invoker" => Grants::of(INVOKER),
            "auditor" => Grants::of(AUDITOR),
            _ => return None,
        };
        Some(Self { name: name.clone(), grants, custom: None })
    }
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, Permission, Role};

    #[test]
    fn every_built_in_role_is_found() {
        let names: Vec<String> = Role::built_in().into_iter().map(|role| role.name.into()).collect();
        assert_eq!(names, BUILT_IN);
    }

    #[test]
    fn only_administrators_administer() {
        for role in Role::built_in() {
            assert_eq!(role.grants.allow(Permission::Administer), role.name.as_str() == "admin", "{}", role.name);
        }
    }
}
