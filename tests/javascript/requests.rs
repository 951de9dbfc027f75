//! `fetch`, which uses the host's requests.

use serde_json::json;

use super::{server, typescript};
use crate::harness::{Options, Site, Team};

const BODY: &str = "
  const { url } = toolInput;
  const failed = (promise: Promise<unknown>) => promise.then(() => null, (error) => [error.name, error.code ?? null, error instanceof TypeError]);
  const many = await Promise.all([1, 2, 3, 4, 5].map(() => fetch(`${url}/meet/4/here`).then((answer) => answer.text())));
  // Only a timer ends this request.
  let beside = 0;
  const ticked = new AbortController();
  const tick = setInterval(() => { if (++beside === 3) ticked.abort(); }, 20);
  await failed(fetch(`${url}/silent`, { signal: ticked.signal }));
  clearInterval(tick);
  const answer = await fetch(new Request(`${url}/echo?q=1`, { method: 'POST', body: JSON.stringify({ a: 'ü' }), headers: { 'X-Mine': 'yes' } }));
  const seen = await answer.clone().json();
  const reader = (await fetch(`${url}/bytes/70000`)).body!.getReader();
  let bytes = 0;
  for (;;) { const { done, value } = await reader.read(); if (done) break; bytes += value.length; }
  const form = new FormData();
  form.append('a', 'b');
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 30);
  return {
    many, beside, status: answer.status, ok: answer.ok, type: answer.headers.get('content-type'), url: answer.url,
    ones: answer.headers.get('x-one'), body: seen.body, method: seen.method,
    mine: seen.headers.filter(([name]: string[]) => name === 'x-mine'), bytes,
    form: await (await fetch(`${url}/echo`, { method: 'PUT', body: new URLSearchParams({ a: '1 2' }) })).json().then((echo) => echo.body),
    gone: await fetch(`${url}/status/404`).then((one) => [one.ok, one.status]),
    empty: await fetch(`${url}/status/204`).then((one) => one.text()),
    manual: await fetch(`${url}/redirect`, { redirect: 'manual' }).then((one) => one.status),
    followed: await failed(fetch(`${url}/redirect`)), error: await failed(fetch(`${url}/redirect`, { redirect: 'error' })),
    late: await failed(fetch(`${url}/silent`, { signal: AbortSignal.timeout(50) })),
    aborted: await failed(fetch(`${url}/silent`, { signal: controller.signal })),
    before: await failed(fetch(url, { signal: AbortSignal.abort() })),
    denied: await failed(fetch('https://elsewhere.example/')), broken: await failed(fetch(`${url}/garbage`)),
    large: await failed(fetch(url, { method: 'POST', body: 'x'.repeat(3_000_000) })),
    blob: await (await fetch(`${url}/echo`, { method: 'POST', body: new Blob(['in a ', 'blob']) })).json().then((echo) => echo.body),
    field: await (await fetch(`${url}/echo`, { method: 'POST', body: form })).json().then((echo) => echo.body.includes('name=\"a\"')),
    nonsense: await failed(fetch('no url')), scheme: await failed(fetch('ftp://h.example/')),
  };
";

#[test]
fn fetch_behaves_as_in_browsers() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let site = Site::serve();
    let package = json!({"lathe": {"allowed_hosts": [site.address.to_string()]}});
    let tool = typescript(&team, "fetches", &package, "", BODY).published();
    let run = tool.invoke(json!({"url": format!("http://{}", site.address)}));
    let said = run.json();
    let expected = json!({
        "many": vec!["waited"; 5], "status": 200, "ok": true, "type": "application/json", "ones": "1, 2",
        "url": site.url("/echo?q=1"), "body": "{\"a\":\"ü\"}", "method": "POST", "mine": [["x-mine", "yes"]], "bytes": 70_000,
        "form": "a=1+2", "gone": [false, 404], "empty": "", "manual": 302,
        "followed": ["EgressRefused", "denied", true], "error": ["TypeError", null, true],
        "late": ["TimeoutError", 23, false], "aborted": ["AbortError", 20, false], "before": ["AbortError", 20, false],
        "denied": ["EgressRefused", "denied", true], "broken": ["TypeError", "protocol", true],
        "blob": "in a blob", "field": true, "large": ["EgressRefused", "request_too_large", true],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&said[name], value, "{name}");
    }
    assert!(said["beside"].as_u64().is_some_and(|ticks| ticks > 1), "timers run beside requests: {said}");
    for name in ["nonsense", "scheme"] {
        assert_eq!(said[name][2], true, "{name}: {said}");
    }
    let replayed = team.post(&format!("/tool/invocation/{}/replay", run.id()), &json!({})).expect(200);
    assert_eq!((&replayed["identical"], &replayed["differences"]), (&json!(true), &json!([])), "{replayed}");
}

const ENCODED: &str = "
  const { url } = toolInput;
  const failed = (promise: Promise<unknown>) => promise.then(() => null, (error) => [error instanceof TypeError, error.message]);
  const greeting = async (encoding: string) => (await (await fetch(`${url}/encoded/${encoding}`)).json()).greeting;
  const head = await fetch(`${url}/bytes/100`, { method: 'HEAD' });
  const chosen = await fetch(`${url}/encoded/br`, { headers: { 'accept-encoding': 'br' } });
  const seen = (await (await fetch(`${url}/echo#part`)).json());
  return {
    decoded: [await greeting('gzip'), await greeting('deflate'), await greeting('identity')],
    head: [head.status, head.statusText, head.headers.get('content-length'), await head.text()],
    other: await failed(fetch(`${url}/encoded/br`)), chosen: (await chosen.text()).length > 0, broken: await failed(fetch(`${url}/zip`)),
    asked: seen.headers.filter(([name]: string[]) => name === 'accept-encoding').map(([, value]: string[]) => value), path: seen.path,
    cut: (await failed(fetch(`${url}/short`)))?.[0],
  };
";

#[test]
fn fetch_decodes_bodies() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let site = Site::serve();
    let package = json!({"lathe": {"allowed_hosts": [site.address.to_string()]}});
    let tool = typescript(&team, "decodes", &package, "", ENCODED).published();
    let said = tool.invoke(json!({"url": format!("http://{}", site.address)})).json();
    assert_eq!(said["decoded"], json!(["grüße", "grüße", "grüße"]), "{said}");
    assert_eq!(said["head"], json!([200, "OK", "100", ""]), "{said}");
    assert_eq!(
        (&said["other"][0], &said["chosen"], &said["cut"]),
        (&json!(true), &json!(true), &json!(true)),
        "{said}"
    );
    assert!(said["other"][1].as_str().is_some_and(|error| error.contains("encoded as br")), "{said}");
    assert!(said["broken"][1].as_str().is_some_and(|error| error.contains("is not gzip")), "{said}");
    assert_eq!((&said["asked"], &said["path"]), (&json!(["gzip, deflate"]), &json!("/echo")), "{said}");
}

const PYTHON_HEADERS: &str = "
    from amigo_tool_scaffold.http import fetch
    said = []
    for name, value in tool_input['headers']:
        try:
            answer = await fetch(f\"{tool_input['url']}/echo\", headers={name: value})
            said.append(answer.status)
        except Exception as error:
            said.append(str(error))
    return said
";

const JAVASCRIPT_HEADERS: &str = "
  const said: unknown[] = [];
  function* once(header: string[]) { yield header; }
  for (const header of toolInput.headers) {
    const answers = [{ [header[0]]: header[1] }, once(header)].map((headers: any) =>
      fetch(`${toolInput.url}/echo`, { headers }).then((answer) => answer.status, (error) => error.message));
    const [fromObject, fromGenerator] = await Promise.all(answers);
    said.push(fromObject === fromGenerator ? fromObject : [fromObject, fromGenerator]);
  }
  return said;
";

#[test]
fn headers_that_a_tool_may_not_set_are_the_same_in_each_language() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let site = Site::serve();
    let host = site.address.to_string();
    let script =
        typescript(&team, "in_javascript", &json!({"lathe": {"allowed_hosts": [host]}}), "", JAVASCRIPT_HEADERS);
    let python = team.tool("in_python").body(PYTHON_HEADERS).manifest(&format!("allowed_hosts = [\"{host}\"]"));
    let refused = [
        ["Host", "other.example.com"],
        ["Transfer-Encoding", "chunked"],
        ["Expect", "100-continue"],
        ["Upgrade", "websocket"],
        ["Proxy-Authorization", "Basic YTpi"],
    ];
    let sent = [["Connection", "close"], ["TE", "trailers"], ["X-Mine", "yes"]];
    let headers = [&refused[..], &sent].concat();
    let input = json!({"url": site.url(""), "headers": headers});
    let said = [script.published(), python.published()].map(|tool| tool.invoke(input.clone()).json());
    for (index, [name, _]) in refused.iter().enumerate() {
        let told = format!("the host sets the header {}", name.to_ascii_lowercase());
        for one in &said {
            assert!(one[index].as_str().is_some_and(|text| text.contains(&told)), "{name}: {said:?}");
        }
    }
    for index in refused.len()..refused.len() + sent.len() {
        assert_eq!((&said[0][index], &said[1][index]), (&json!(200), &json!(200)), "{said:?}");
    }
}

const STANDARD: &str = "
  const { url } = toolInput;
  const controller = new AbortController();
  const any = AbortSignal.any([controller.signal, AbortSignal.timeout(60_000)]);
  controller.abort('why');
  const clone = new Response('abc', { status: 201 });
  const parts: number[] = [];
  for await (const part of new Response('abc').body as any) parts.push(...part);
  const manual = await fetch(new Request(`${url}/redirect`, { redirect: 'manual' }));
  const empty = await fetch(`${url}/status/200`, { method: 'HEAD' });
  return {
    any: [any.aborted, any.reason], clone: [await clone.clone().text(), await clone.text(), clone.clone === undefined], parts,
    latin: await new Response(new Uint8Array([103, 252])).text(), manual: manual.status, head: empty.body, type: empty.type,
    blob: (await new Response('a', { headers: { 'content-type': 'x/y' } }).blob()).type, error: [Response.error().type, Response.error().status],
    url: [URL.canParse('x'), (URL as any).parse('http://h.example/').host], request: new Request(new Request('http://h.example/', { cache: 'no-store' })).cache,
    is: [new Response() instanceof Response, manual instanceof Response], globals: [typeof setImmediate, typeof TextDecoderStream, typeof globalThis.global],
  };
";

#[test]
fn requests_and_responses_are_those_of_the_standard() {
    let Some(server) = server(Options::default()) else { return };
    let team = Team::on(&server);
    let site = Site::serve();
    let package = json!({"lathe": {"allowed_hosts": [site.address.to_string()]}});
    let before = "declare const setImmediate: any; declare namespace globalThis { const global: any; }";
    let tool = typescript(&team, "standard_fetch", &package, before, STANDARD).published();
    let said = tool.invoke(json!({"url": format!("http://{}", site.address)})).json();
    let expected = json!({
        "any": [true, "why"], "clone": ["abc", "abc", false], "parts": [97, 98, 99], "latin": "g\u{fffd}", "manual": 302,
        "head": null, "type": "basic", "blob": "x/y", "error": ["error", 0], "url": [false, "h.example"], "request": "no-store",
        "is": [true, true], "globals": ["function", "function", "object"],
    });
    for (name, value) in expected.as_object().expect("an object") {
        assert_eq!(&said[name], value, "{name}: {said}");
    }
}
