//! The packages httpx, requests and urllib3, from the package index that `LATHE_PYTHON_INDEX` names.

use serde_json::json;

use super::{authority, reaching};
use crate::harness::{Options, Site, Team, needs};

const HTTPX_LOCK: &str = "\
httpx==0.28.1 --hash=sha256:d909fcccc110f8c7faf814ca82a9a4d816bc5a6dbfea25d6591d6985b8ba59ad
httpcore==1.0.9 --hash=sha256:2d400746a40668fc9dec9810239072b40b4484b640a8c38fd654a024c7a1bf55
h11==0.16.0 --hash=sha256:63cf8bbe7522de3bf65932fda1d9c2772064ffb3dae62d55932da54b31cb6c86
anyio==4.16.0 --hash=sha256:c66ae634e0b8228396b801741beb3294326d4b6102f7bba4041c0dfb58c29026
certifi==2026.10.18 --hash=sha256:73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62
idna==3.20 --hash=sha256:ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
sniffio==1.3.1 --hash=sha256:2f6da418d1f1e0fddd844478f41680e794e6051915791a034ff65e5f100525a2
";

pub const REQUESTS_LOCK: &str = "\
requests==2.34.2 --hash=sha256:2a0d60c172f83ac6ab31e4554906c0f3b3588d37b5cb939b1c061f4907e278e0
urllib3==2.8.0 --hash=sha256:0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3
charset-normalizer==3.5.2 --hash=sha256:b6b751274acb69d77b3323d6b7dbaa3c7fdfc1eb829b7eb61d262f32e1af9685
certifi==2026.10.18 --hash=sha256:73191c47aaa79da394e8fee2dbc2ec827432cab56311122c9e47abf79e390f62
idna==3.20 --hash=sha256:ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
";

/// boto3 and many others send with it.
const URLLIB3_LOCK: &str = "\
urllib3==2.8.0 --hash=sha256:0cf3cae568d36aa9576b28dfb35f11328f1cb974ca7647d9475ebb86c75ac6e3
";

const HTTPX: &str = "
    import asyncio, httpx
    url, refused = tool_input['url'], None
    async with httpx.AsyncClient(base_url=url) as client:
        many = await asyncio.gather(*(client.get('/meet/4/here') for _ in range(5)))
        echo = (await client.post('/echo', json={'a': 1})).json()
        try:
            await client.get('/silent', timeout=0.1)
        except httpx.TimeoutException as error:
            late = type(error).__name__
        try:
            await client.get('http://169.254.169.254/')
        except httpx.HTTPError as error:
            refused = [type(error).__name__, type(error.__cause__).__name__]
    plain = httpx.get(url + '/status/404')
    return {
        'bodies': [one.text for one in many], 'method': echo['method'], 'body': echo['body'],
        'late': late, 'refused': refused, 'plain': plain.status_code,
    }
";

const REQUESTS: &str = "
    import requests
    url, refused = tool_input['url'], None
    with requests.Session() as session:
        echo = session.post(url + '/echo', json={'a': 1}, params={'q': 'ü'}).json()
        try:
            session.get(url + '/silent', timeout=0.1)
        except requests.Timeout as error:
            late = type(error).__name__
        try:
            session.get('http://169.254.169.254/')
        except requests.ConnectionError as error:
            refused = type(error).__name__
        missing = session.get(url + '/status/404')
        session.get(url + '/cookie/')
        second = dict(session.get(url + '/echo').json()['headers']).get('cookie')
    return {
        'cookies': [second, 'cookie' in dict(requests.get(url + '/echo').json()['headers'])],
        'path': echo['path'], 'body': echo['body'], 'late': late, 'refused': refused, 'missing': missing.status_code,
        'bytes': len(requests.get(url + '/bytes/100000').content),
    }
";

const URLLIB3: &str = "
    import io, ssl, urllib3
    url, refused = tool_input['url'], None
    pool = urllib3.PoolManager(ssl_context=ssl.create_default_context())
    echo = pool.request('PUT', url + '/echo?q=1', body=io.BytesIO(b'file'), headers={'expect': '100-continue'}).json()
    try:
        pool.request('GET', url + '/silent', timeout=urllib3.Timeout(total=0.1), retries=False)
    except urllib3.exceptions.TimeoutError as error:
        late = type(error).__name__
    try:
        pool.request('GET', 'http://169.254.169.254/', retries=False)
    except urllib3.exceptions.NewConnectionError as error:
        refused = type(error.__cause__).__name__
    with pool.request('GET', url + '/bytes/100000', preload_content=False) as streamed:
        chunks = [len(chunk) for chunk in streamed.stream(40_000)]
    missing = pool.request('GET', url + '/status/404')
    return {'path': echo['path'], 'method': echo['method'], 'body': echo['body'], 'late': late, 'refused': refused,
        'chunks': chunks, 'missing': missing.status}
";

/// Runs a tool with these packages, if there is a package index.
fn run(name: &str, lock: &str, body: &str) -> Option<serde_json::Value> {
    let index = needs::PYTHON_INDEX.require(std::env::var("LATHE_PYTHON_INDEX").ok())?;
    let site = Site::serve();
    let server = reaching(Options { python_index: Some(index), ..Options::default() });
    let team = Team::on(&server);
    let manifest = format!("[project]\nname = \"{name}\"\nversion = \"1\"\ndependencies = [\"{name}\"]\n\n");
    let manifest = format!("{manifest}[tool.lathe]\nallowed_hosts = [\"{}\"]\n", authority(&site));
    let tool = team.tool(name).body(body).with_file("pyproject.toml", &manifest).with_file("requirements.lock", lock);
    Some(tool.published().invoke(json!({"url": format!("http://{}", site.address)})).json())
}

#[test]
fn httpx_works_unchanged() {
    let Some(said) = run("httpx", HTTPX_LOCK, HTTPX) else { return };
    let expected = json!({
        "bodies": vec!["waited"; 5], "method": "POST", "body": "{\"a\":1}", "late": "ReadTimeout",
        "refused": ["ConnectError", "EgressRefused"], "plain": 404,
    });
    assert_eq!(said, expected);
}

#[test]
fn requests_works_unchanged() {
    let Some(said) = run("requests", REQUESTS_LOCK, REQUESTS) else { return };
    let expected = json!({
        "path": "/echo?q=%C3%BC", "body": "{\"a\": 1}", "late": "ReadTimeout", "refused": "ConnectionError",
        "missing": 404, "bytes": 100_000, "cookies": ["session=first", false],
    });
    assert_eq!(said, expected);
}

#[test]
fn urllib3_works_unchanged() {
    let Some(said) = run("urllib3", URLLIB3_LOCK, URLLIB3) else { return };
    let expected = json!({
        "path": "/echo?q=1", "method": "PUT", "body": "file", "late": "ReadTimeoutError", "refused": "EgressRefused",
        "chunks": [40_000, 40_000, 20_000], "missing": 404,
    });
    assert_eq!(said, expected);
}
