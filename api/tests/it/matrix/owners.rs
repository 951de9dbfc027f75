//! Whom the objects in paths belong to: one user, or the organisation.

/// The owner of the objects that a parameter of a path names.
enum Owner {
    /// For colleagues of the user, the object does not exist.
    User,
    /// The object needs a permission.
    Organization,
    /// The parameter is a name, which each user can give something of their own.
    Name,
}

/// Whether the path names an object of one user.
pub fn is_of_one_user(template: &str) -> bool {
    let parameters = template.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    parameters.map(|parameter| find_owner(template, parameter)).any(|owner| matches!(owner, Owner::User))
}

fn find_owner(template: &str, parameter: &str) -> Owner {
    match parameter {
        "agent_run_id" | "human_request_id" | "conversation_id" | "turn_id" => Owner::User,
        "memory_id" | "rule_id" | "skill_id" | "task_id" | "prompt_id" | "artifact_id" => Owner::User,
        "api_key_id" if template.contains("/me/") => Owner::User,
        "key" => Owner::Name,
        "variable_name" if template.contains("/me/") => Owner::Name,
        // The agents here are of the organisation. An operation needs the permission for what it did.
        "agent_id" | "gateway" | "operation_id" => Owner::Organization,
        "organization" | "user_id" | "role_name" | "api_key_id" | "variable_name" | "hold_id" => Owner::Organization,
        "tool_id" | "tool_name" | "version" | "build_id" | "invocation_id" | "*git_path" => Owner::Organization,
        "state_name" | "number" => Owner::Organization,
        "download" | "*resource" | "asset" => Owner::Organization,
        other => panic!("{template}: say here whom {other} belongs to"),
    }
}
