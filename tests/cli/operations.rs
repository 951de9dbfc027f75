//! The commands beside the operations of the API.

use std::collections::{BTreeMap, BTreeSet};

/// The command that calls each operation, as the reference of the commands has it.
const COMMANDS: &str = "
    get-tools: lathe tool list                      create-tool: lathe tool create
    modify-tool: lathe tool edit                    deprecate-tool: lathe tool deprecate
    modify-tool-envvars: lathe envvar set           publish-tool-version: lathe tool publish
    get-tool-versions: lathe tool versions          get-tool-version: lathe tool show
    deprecate-tool-version: lathe tool deprecate    invoke-tool-version: lathe tool invoke
    get-tool-version-provenance: lathe tool provenance
    get-tool-version-sbom: lathe tool sbom          verify-tool-version: lathe tool verify
    list-signing-keys: lathe key signing            get-tool-build: lathe tool log
    test-tool: lathe tool test                      get-tool-scaffold-release: lathe tool-scaffold install
    get-tool-invocations: lathe history list        search-tool-invocations: lathe history search
    get-tool-invocation: lathe history show         cancel-tool-invocation: lathe history cancel
    replay-tool-invocation: lathe replay            roll-back-tool-invocations: lathe history rollback
    get-history-holds: lathe history hold list      place-history-hold: lathe history hold create
    release-history-hold: lathe history hold release
    get-operation: lathe operation show             get-me: lathe whoami
    sign-in-with-api-key: lathe login
    get-own-api-keys: lathe key list                create-own-api-key: lathe key create
    revoke-own-api-key: lathe key revoke            get-own-variables: lathe user variable list
    set-own-variable: lathe user variable set       remove-own-variable: lathe user variable unset
    get-users: lathe user list                      create-user: lathe user create
    get-user: lathe user show                       modify-user: lathe user edit
    remove-user: lathe user delete                  get-user-variables: lathe user variable list
    set-user-variable: lathe user variable set      remove-user-variable: lathe user variable unset
    get-roles: lathe role list                      create-role: lathe role create
    get-role: lathe role show                       modify-role: lathe role edit
    delete-role: lathe role delete                  get-api-keys: lathe key list
    create-api-key: lathe key create                revoke-api-key: lathe key revoke
    get-agents: lathe agent list                    create-agent: lathe agent create
    get-agent: lathe agent show                     modify-agent: lathe agent edit
    delete-agent: lathe agent delete                get-agent-assignments: lathe agent tools
    assign-tool: lathe agent assign                 unassign-tool: lathe agent unassign
    get-agent-states: lathe agent state list        set-agent-state: lathe agent state set
    remove-agent-state: lathe agent state unset     deploy-agent: lathe agent deploy
    get-agent-revisions: lathe agent revisions      get-agent-revision: lathe agent revisions
    get-agent-tools: lathe agent tools
    get-conversations: lathe conversation list      start-conversation: lathe conversation start
    get-conversation: lathe conversation show       end-conversation: lathe conversation end
    get-conversation-log: lathe conversation log    begin-turn: lathe conversation turn
    get-turn: lathe conversation show               invoke-in-turn: lathe conversation call
    execute-agent: lathe run start                  get-agent-run: lathe run show
    get-agent-run-trace: lathe run trace            cancel-agent-run: lathe run cancel
    get-agent-runs: lathe run list
    get-human-requests: lathe inbox                 get-human-request: lathe inbox show
    answer-human-request: lathe inbox answer        post-mcp: lathe mcp serve
    get-mcp: lathe mcp serve
    memory_create: lathe memory create              memory_list: lathe memory list
    memory_search: lathe memory search              memory_get: lathe memory show
    memory_update: lathe memory edit                memory_delete: lathe memory delete
    rule_create: lathe rule create                  rule_list: lathe rule list
    rule_get: lathe rule show                       rule_update: lathe rule edit
    rule_delete: lathe rule delete
    skill_create: lathe skill create                skill_list: lathe skill list
    skill_get: lathe skill show                     skill_update: lathe skill edit
    skill_delete: lathe skill delete
    task_create: lathe task create                  task_list: lathe task list
    task_get: lathe task show                       task_complete: lathe task complete
    task_skip_next: lathe task skip-next            task_end_recurrence: lathe task end-recurrence
    task_delete: lathe task delete
    prompt_create: lathe prompt create              prompt_list: lathe prompt list
    prompt_get: lathe prompt show                   prompt_update: lathe prompt edit
    artifact_save: lathe artifact create            artifact_list: lathe artifact list
    artifact_get: lathe artifact show               artifact_share: lathe artifact share
    artifact_delete: lathe artifact delete
    preference_set: lathe preference set            preference_list: lathe preference list
    preference_get: lathe preference show           preference_forget: lathe preference unset
";

/// Operations without a command, and why.
const WITHOUT: [(&str, &str); 25] = [
    ("get-root", "a page for people"),
    ("get-openapi-document", "the document itself"),
    ("get-reference", "a page for people"),
    ("get-error-reference", "a page for people"),
    ("get-reference-asset", "a part of a page"),
    ("is-live", "for probes"),
    ("is-ready", "for probes; `lathe doctor` checks the server of the login"),
    ("get-authorization-server", "for OAuth clients"),
    ("get-protected-resource", "for OAuth clients"),
    ("get-oauth-authorization", "a page for people"),
    ("post-oauth-authorization", "the form of a page"),
    ("create-oauth-token", "for OAuth clients"),
    ("revoke-oauth-token", "for OAuth clients"),
    ("register-oauth-client", "for OAuth clients"),
    ("download-artifact", "a link for people without a token, which `lathe artifact show --link` prints"),
    ("get-organization", "`lathe whoami` shows the organisation"),
    ("invoke-tool-version-by-name", "`lathe tool invoke` takes a name"),
    ("resume-agent-run", "`lathe inbox answer` answers the request of the run"),
    ("delete-mcp", "the end of a session, which the client of `lathe mcp serve` sends"),
    ("access-git-interface", "git is the client"),
    ("post-git-interface", "git is the client"),
    ("memory_put", "the same as memory_update"),
    ("rule_put", "the same as rule_update"),
    ("skill_put", "the same as skill_update"),
    ("prompt_put", "the same as prompt_update"),
];

fn operations() -> BTreeSet<String> {
    let document = api::build_openapi_document();
    let paths = document["paths"].as_object().expect("paths");
    let of_path = paths.values().flat_map(|item| item.as_object().expect("an item").values());
    of_path.filter_map(|operation| operation["operationId"].as_str()).map(str::to_owned).collect()
}

/// The commands of the operations, by the ids of the operations.
fn commands() -> BTreeMap<&'static str, &'static str> {
    let pairs = COMMANDS.lines().flat_map(|line| line.split("  ")).map(str::trim).filter(|pair| !pair.is_empty());
    pairs.map(|pair| pair.split_once(": ").unwrap_or_else(|| panic!("{pair}"))).collect()
}

#[test]
fn each_operation_has_a_command_or_a_reason() {
    let (commands, without) = (commands(), BTreeMap::from(WITHOUT));
    let listed: BTreeSet<String> = commands.keys().chain(without.keys()).map(|id| (*id).to_owned()).collect();
    let operations = operations();
    let missing: Vec<_> = operations.difference(&listed).collect();
    assert!(missing.is_empty(), "name the command of each operation, or say why it has none: {missing:?}");
    let gone: Vec<_> = listed.difference(&operations).collect();
    assert!(gone.is_empty(), "there are no such operations: {gone:?}");
    assert_eq!(listed.len(), commands.len() + without.len(), "an operation is listed twice");
}

/// The reference is made from the command line.
#[test]
fn the_commands_of_operations_are_there() {
    let reference = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/cli.md"));
    let reference = reference.expect("the reference of the commands");
    let headings: BTreeSet<&str> =
        reference.lines().filter_map(|line| line.strip_prefix("## `")?.strip_suffix('`')).collect();
    let missing: Vec<_> = commands().into_iter().filter(|(_, command)| !headings.contains(command)).collect();
    assert!(missing.is_empty(), "there are no such commands: {missing:?}");
}

/// One verb for one thing: what a command makes, changes and removes has the same words everywhere.
#[test]
fn the_same_thing_has_the_same_verb() {
    let reference = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/cli.md"));
    let reference = reference.expect("the reference of the commands");
    for line in reference.lines().filter_map(|line| line.strip_prefix("## `lathe ")) {
        let verb = line.trim_end_matches('`').rsplit(' ').next().unwrap_or_default();
        let other = ["add", "remove", "update", "get", "destroy", "modify", "set-role"].contains(&verb);
        assert!(!other, "`lathe {line}: create, edit, delete, set, unset and show are the words of other commands");
    }
}
