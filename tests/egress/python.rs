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

const STANDARD: &str = "
    import http.client, json, urllib.request
    url = tool_input['url']
    authority, said = url.partition('//')[2], {}
    connection = http.client.HTTPConnection(authority)
    # One connection for several requests, also for those whose response has no body.
    for method, path in [('HEAD', '/bytes/100'), ('GET', '/status/204'), ('GET', '/bytes/3'), ('DELETE', '/echo')]:
        connection.request(method, path)
        answer = connection.getresponse()
        said[method + path] = [answer.status, answer.getheader('Content-Length'), len(answer.read())]
    connection.request('POST', '/echo', body=iter([b'in ', b'parts']), encode_chunked=True, headers={'Transfer-Encoding': 'chunked'})
    said['chunks'] = json.load(connection.getresponse())['body']
    connection.request('GET', '/short')
    try:
        connection.getresponse().read()
    except http.client.IncompleteRead as error:
        said['short'] = 'the HTTP exchange failed' in str(error)
    opened = urllib.request.urlopen(urllib.request.Request(url + '/bytes/7', method='HEAD'))
    said['opened'] = [opened.status, opened.reason, opened.headers['content-length'], opened.read().decode()]
    said['lines'] = [line.decode() for line in urllib.request.urlopen(url + '/bytes/2')]
    proxied = urllib.request.build_opener(urllib.request.ProxyHandler({'http': url}))
    try:
        proxied.open('http://example.com/')
    except urllib.error.URLError as error:
        said['proxy'] = str(error.reason)
    return said
";

#[test]
fn the_http_client_of_the_standard_library_sends_through_the_host() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("connects").body(STANDARD).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let said = tool.published().invoke(json!({"url": format!("http://{}", site.address)})).json();
    for (name, expected) in [
        ("HEAD/bytes/100", json!([200, "100", 0])),
        ("GET/status/204", json!([204, "0", 0])),
        ("GET/bytes/3", json!([200, "3", 3])),
        ("chunks", json!("in parts")),
        ("short", json!(true)),
        ("opened", json!([200, "OK", "7", ""])),
        ("lines", json!(["xx"])),
    ] {
        assert_eq!(said[name], expected, "{name}: {said}");
    }
    assert_eq!(said["DELETE/echo"][0], 200, "{said}");
    assert!(said["proxy"].as_str().is_some_and(|reason| reason.contains("a tool has no proxies")), "{said}");
}

const ENCODED: &str = "
    from amigo_tool_scaffold.http import fetch
    said = []
    for encoding in ['gzip', 'deflate', 'identity']:
        answer = await fetch(f\"{tool_input['url']}/encoded/{encoding}\")
        said.append([answer.json()['greeting'], answer.headers['content-encoding']])
    answer = await fetch(tool_input['url'] + '/encoded/br')
    try:
        answer.text()
    except ValueError as error:
        said.append([str(error), len(answer.body)])
    try:
        await fetch(tool_input['url'] + '/zip')
    except ValueError as error:
        said.append(str(error))
    seen = (await fetch(tool_input['url'] + '/echo')).json()['headers']
    said.append([value for name, value in seen if name == 'accept-encoding'])
    return said
";

#[test]
fn fetch_decodes_bodies() {
    let site = Site::serve();
    let server = reaching(Options::default());
    let team = Team::on(&server);
    let tool = team.tool("decodes").body(ENCODED).manifest(&format!("allowed_hosts = [\"{}\"]", authority(&site)));
    let said = tool.published().invoke(json!({"url": format!("http://{}", site.address)})).json();
    assert_eq!(said[0], json!(["grüße", "gzip"]), "{said}");
    assert_eq!((&said[1][0], &said[2][0]), (&json!("grüße"), &json!("grüße")), "{said}");
    assert!(said[3][0].as_str().is_some_and(|error| error.contains("encoded as br")), "{said}");
    assert!(said[4].as_str().is_some_and(|error| error.contains("is not gzip")), "{said}");
    assert_eq!(said[5], json!(["gzip, deflate"]), "{said}");
}
