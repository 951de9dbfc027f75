//! A tool that calls itself over HTTP. The cycle must end.

use serde_json::json;

use super::reaching;
use crate::harness::{Options, Team};

const CALLS_ITSELF: &str = "
    import json, urllib.request, urllib.error
    one = {'input_parameters': tool_input, 'invocation_mode': 'regular', 'nonsensitive_user_variables': {},
        'sensitive_user_variables': {}}
    headers = {'Authorization': tool_input['token'], 'Content-Type': 'application/json', 'Lathe-Depth': '0'}
    request = urllib.request.Request(tool_input['url'], json.dumps({'inputs': [one]}).encode(), headers)
    try:
        with urllib.request.urlopen(request) as answer:
            result = json.load(answer)['invocation_results'][0]
            return 'I ' + result.get('output', result.get('exception_message'))
    except urllib.error.HTTPError as error:
        return json.load(error)['code']
";

#[test]
fn a_cycle_of_tools_ends() {
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("circles").body(CALLS_ITSELF);
    let tool = tool.manifest(&format!("allowed_hosts = [\"{}\"]", server.address())).published();
    let url = format!("{}/v1/{}/tool/{}/version/%3E%3D0/invoke", server.url, team.organization, tool.id());
    let run = tool.invoke(json!({"url": url, "token": format!("Bearer {}", team.token)}));
    assert_eq!(run.output(), "I I I loop_detected");
    assert_eq!(team.history().len(), 4);
}
