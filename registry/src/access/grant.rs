//! Grants: a permission, for all tools or under conditions. One matching grant suffices; all its conditions must hold.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::condition::Condition;
use super::permission::{Permission, PermissionSet};
use crate::kit::byte_cache::heap_bytes;
use crate::kit::invalid_value::InvalidValue;
use crate::tools::Tool;

/// Grants of one role: every permission with a handful of different conditions.
pub const GRANTS_MAX: usize = 50;
/// Conditions of one grant.
pub const CONDITIONS_MAX: usize = 10;
/// Bytes of the grants of one role as JSON. Bounds the list of all roles of an organisation.
pub const GRANTS_BYTES_MAX: usize = 16 * 1024;

/// One permission, for all tools or for the tools that meet all conditions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    permission: Permission,
    conditions: Vec<Condition>,
}

/// The grants of a role. Clones share the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    unconditional: PermissionSet,
    all: Arc<[Grant]>,
}

impl Grant {
    /// Creates a grant. Without conditions it covers all tools. Conditions test a tool, so a permission for operations
    /// without a tool takes no conditions.
    pub fn new(permission: Permission, conditions: Vec<Condition>) -> Result<Self, InvalidValue> {
        if !conditions.is_empty() && !permission.can_be_conditional() {
            let rule = "must be empty for this permission, because its operations are not on a single tool";
            return Err(InvalidValue::new("conditions", rule));
        }
        if conditions.len() > CONDITIONS_MAX {
            return Err(InvalidValue::new("conditions", "must be at most 10"));
        }
        Ok(Self { permission, conditions })
    }

    pub fn permission(&self) -> Permission {
        self.permission
    }

    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}

impl Grants {
    /// Creates the grants of a role.
    pub fn new(grants: Vec<Grant>) -> Result<Self, InvalidValue> {
        if grants.len() > GRANTS_MAX {
            return Err(InvalidValue::new("grants", "must be at most 50"));
        }
        let grants = Self::from_list(grants);
        match serde_json::to_vec(&grants) {
            Ok(json) if json.len() <= GRANTS_BYTES_MAX => Ok(grants),
            _ => Err(InvalidValue::new("grants", "must take at most 16384 bytes as JSON")),
        }
    }

    /// Creates grants without conditions.
    pub fn of(permissions: impl IntoIterator<Item = Permission>) -> Self {
        let grant = |permission| Grant { permission, conditions: Vec::new() };
        Self::from_list(permissions.into_iter().map(grant).collect())
    }

    pub fn everything() -> Self {
        Self::of(Permission::grantable())
    }

    /// Whether the permission is granted without conditions.
    pub const fn allow(&self, permission: Permission) -> bool {
        self.unconditional.contains(permission)
    }

    /// Whether the permission is granted for some tools.
    pub fn allow_some(&self, permission: Permission) -> bool {
        self.all.iter().any(|grant| grant.permission == permission)
    }

    /// Whether the permission is granted for this tool.
    pub fn allow_for(&self, permission: Permission, tool: &Tool) -> bool {
        let mut matching = self.all.iter().filter(|grant| grant.permission == permission);
        matching.any(|grant| grant.conditions.iter().all(|condition| condition.holds(tool)))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Grant> {
        self.all.iter()
    }

    fn from_list(grants: Vec<Grant>) -> Self {
        let unconditional = grants.iter().filter(|grant| grant.conditions.is_empty());
        let unconditional = unconditional.map(|grant| grant.permission).collect();
        Self { unconditional, all: grants.into() }
    }
}

impl Serialize for Grants {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Grants {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from_list)
    }
}

heap_bytes! {
    Grant { conditions }
    Grants { all }
}

#[cfg(test)]
mod tests {
    use super::{CONDITIONS_MAX, Condition, GRANTS_MAX, Grant, Grants, Permission};

    fn condition() -> Condition {
        Condition::parse("tool_name", "startsWith", "search_").unwrap()
    }

    #[test]
    fn lists_are_bounded() {
        let grant = |count| Grant::new(Permission::InvokeTool, vec![condition(); count]);
        assert!(grant(CONDITIONS_MAX).is_ok() && grant(CONDITIONS_MAX + 1).is_err());
        let grants = |count| Grants::new(vec![grant(1).unwrap(); count]);
        assert!(grants(GRANTS_MAX).is_ok() && grants(GRANTS_MAX + 1).is_err());
        let long = Condition::parse("tool_name", "equal", &"v".repeat(256)).unwrap();
        let long = Grant::new(Permission::InvokeTool, vec![long; CONDITIONS_MAX]).unwrap();
        assert!(Grants::new(vec![long.clone(); 4]).is_ok() && Grants::new(vec![long; 6]).is_err());
    }

    #[test]
    fn only_permissions_on_tools_take_conditions() {
        for permission in Permission::grantable() {
            assert_eq!(Grant::new(permission, vec![condition()]).is_ok(), permission.can_be_conditional());
            assert!(Grant::new(permission, Vec::new()).is_ok());
        }
    }

    #[test]
    fn a_conditional_grant_is_not_unconditional() {
        let grants = Grants::new(vec![Grant::new(Permission::InvokeTool, vec![condition()]).unwrap()]).unwrap();
        assert!(!grants.allow(Permission::InvokeTool) && grants.allow_some(Permission::InvokeTool));
        assert!(!grants.allow_some(Permission::GetTool));
        let text = serde_json::to_string(&grants).unwrap();
        assert_eq!(serde_json::from_str::<Grants>(&text).unwrap(), grants);
    }
}
