//! Secrets that the host adds to requests, and that the tool never receives.

use serde_json::json;

use super::{ASK, ask, authority, reaching};
use crate::harness::{Options, Site, Team};

const SECRET: &str = "canary-of-the-host";

#[test]
fn a_host_secret_reaches_its_host_only() {
    let (its, other) = (Site::serve(), Site::serve());
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("asks").body(ASK).manifest("required_secret_envvars = ['API_KEY']");
    let tool = tool.manifest(&format!("allowed_hosts = {}", json!([authority(&its), authority(&other)])));
    let tool = tool.manifest(&format!("secret_hosts.API_KEY = {}", json!([authority(&its)])));
    tool.set_variables(&[("API_KEY", SECRET, true)]);
    let tool = tool.published();
    let bearer = json!({"Authorization": "Bearer {{secret:API_KEY}}"});
    let requests = json!([
        {"url": its.url("/echo"), "headers": bearer},
        {"url": other.url("/echo"), "headers": bearer},
        {"url": its.url("/echo"), "headers": {"X": "{{secret:NO_SUCH}}"}},
    ]);
    let said = ask(&tool, &requests);
    // The site returns what it received, and the answer is redacted.
    assert!(said[0]["body"].as_str().expect("text").contains("Bearer [redacted]"), "{said:?}");
    for refused in &said[1..] {
        assert_eq!(refused["code"], "denied", "{refused}");
        assert!(refused["message"].as_str().expect("text").contains("secret_hosts"), "{refused}");
    }
    assert_eq!((its.connections(), other.connections()), (1, 0));

    let record = team.get(&format!("/tool/invocation/{}", team.history()[0]["id"].as_str().expect("an id")));
    let ledger = &record["ledger"];
    assert_eq!((&ledger["granted"]["secrets"], &ledger["granted"]["host_secrets"]), (&json!([]), &json!(["API_KEY"])));
    assert_eq!(ledger["used"]["secrets"], json!(["API_KEY"]));
    assert_eq!(ledger["used"]["http"][0]["secrets"], json!(["API_KEY"]));
    assert_eq!(ledger["used"]["http"][1]["secrets"], json!([]));
    assert!(!record.to_string().contains("canary"), "{record}");

    let looks = team.tool("asks").with_id(tool.id()).body("return sorted(config.secrets)");
    let looks = looks.manifest("required_secret_envvars = ['API_KEY']").manifest("secret_hosts.API_KEY = []");
    assert_eq!(looks.published().invoke(json!({})).json(), json!([]));
}

#[test]
fn an_error_about_a_header_names_the_secret_with_a_line_end() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let body = "
        from amigo_tool_scaffold.http import fetch
        said = []
        for url, headers in [
            (tool_input['url'], {'Authorization': 'Bearer {{secret:KEPT}}'}),
            (tool_input['url'], {'Authorization': 'Bearer ' + config.secrets['TOKEN']}),
            (config.secrets['ADDRESS'] + tool_input['url'], {}),
        ]:
            try:
                await fetch(url, headers=headers)
            except Exception as error:
                said.append(f'{error.__cause__ or error}')
        return said
    ";
    let tool = team.tool("asks").body(body).manifest("required_secret_envvars = ['KEPT', 'TOKEN', 'ADDRESS']");
    let tool = tool.manifest(&format!("allowed_hosts = {}", json!([authority(&site)])));
    let tool = tool.manifest(&format!("secret_hosts.KEPT = {}", json!([authority(&site)])));
    let variables = [("KEPT", "canary-kept\n"), ("TOKEN", "canary-token\r\n"), ("ADDRESS", "\u{feff}canary-address")];
    tool.set_variables(&variables.map(|(name, value)| (name, value, true)));
    let run = tool.published().invoke(json!({"url": site.url("/echo")}));
    let said = run.json();
    for (said, expected) in said.as_array().expect("a list").iter().zip([
        "the variable KEPT, which ends with a line end. Set the variable again without it",
        "the variable TOKEN, which ends with a line end",
        "the variable ADDRESS, which begins with a byte order mark",
    ]) {
        let said = said.as_str().expect("a text");
        assert!(said.contains(expected) && !said.contains("canary"), "{said}");
    }
    assert_eq!((said.as_array().map(Vec::len), site.connections()), (Some(3), 0), "{run}");
}
