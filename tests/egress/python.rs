//! The ways in which a Python tool sends requests.

use serde_json::{Value, json};

use super::{authority, reaching};
use crate::harness::{Options, Site, Team};

const FETCHES: &str = "
    import asyncio
    from amigo_tool_scaffold.http import fetch
    url = tool_input['url']
    many = await asyncio.gather(*(fetch(f'{url}/meet/4/here') for _ in range(6)))
    answer = await fetch(f'{url}/echo', json={'a': 'ü'}, headers={'X-Mine': 'yes'})
    seen = answer.json()
    late = None
    try:
        await fetch(f'{url}/silent', timeout=0.1)
    except TimeoutError as error:
        late = type(error).__name__
    return {
        'bodies': [one.text() for one in many], 'status': answer.status, 'ok': answer.ok,
        'ones': answer.headers.get_all('x-one'), 'body': seen['body'],
        'mine': [value for name, value in seen['headers'] if name == 'x-mine'], 'late': late,
    }
";

#[test]
fn fetch_sends_requests_concurrently() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("fetches").body(FETCHES).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let said = tool.published().invoke(json!({"url": format!("http://{}", site.address)})).json();
    assert_eq!(said["bodies"], json!(vec!["waited"; 6]));
    assert_eq!((&said["status"], &said["ok"], &said["ones"]), (&json!(200), &json!(true), &json!(["1", "2"])));
    assert_eq!((&said["body"], &said["mine"]), (&json!("{\"a\": \"\\u00fc\"}"), &json!(["yes"])));
    assert_eq!(said["late"], "TimeoutError");
}

const URLLIB: &str = "
    import json, urllib.request, urllib.parse
    url = tool_input['url']
    form = urllib.parse.urlencode({'a': 1}).encode()
    with urllib.request.urlopen(f'{url}/echo', data=form) as answer:
        seen, headers = json.load(answer), answer.headers
    late = None
    try:
        urllib.request.urlopen(f'{url}/silent', timeout=0.1)
    except TimeoutError as error:
        late = type(error).__name__
    kinds = [value for name, value in seen['headers'] if name == 'content-type']
    return {'method': seen['method'], 'body': seen['body'], 'kinds': kinds, 'type': headers['Content-Type'], 'late': late}
";

#[test]
fn urllib_works_as_on_other_platforms() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("opens").body(URLLIB).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let said = tool.published().invoke(json!({"url": format!("http://{}", site.address)})).json();
    let expected: Value = json!({
        "method": "POST", "body": "a=1", "kinds": ["application/x-www-form-urlencoded"], "type": "application/json",
        "late": "TimeoutError",
    });
    assert_eq!(said, expected);
}

const MISTAKES: &str = "
    import urllib.request
    from amigo_tool_scaffold.http import fetch
    url, said = tool_input['url'], []
    for arguments in [
        {'headers': {'X': 5}}, {'headers': {'X': None}}, {'method': 7}, {'body': None}, {'body': 'x' * 3_000_000},
        {'headers': {'X': chr(0xd800)}}, {'method': 'get'}, {'method': 'A' * 100_000}, {'headers': {'X': b'y'}},
    ]:
        try:
            said.append((await fetch(url, **arguments)).status)
        except Exception as error:
            said.append(type(error).__name__)
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    said.append(opener.open(url).status)
    return said
";

#[test]
fn a_mistake_is_an_exception_and_does_not_end_the_run() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("errs").body(MISTAKES).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let said = tool.published().invoke(json!({"url": site.url("/status/200")})).json();
    let expected = json!([
        "TypeError",
        "TypeError",
        "TypeError",
        "TypeError",
        "EgressRefused",
        "UnicodeEncodeError",
        "EgressRefused",
        "EgressRefused",
        200,
        200,
    ]);
    assert_eq!(said, expected);
}
