//! The packages aiohttp, httpx, requests and urllib3, from the package index that `LATHE_PYTHON_INDEX` names.

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

const AIOHTTP_LOCK: &str = "\
aiohappyeyeballs==2.7.1 --hash=sha256:9243213661e29250eb41368e5daa826fc017156c3b8a11440826b2e3ed376472
aiohttp==3.14.5 --hash=sha256:efc21a454892828368b11c2c780de0ff8bc991f73f6b99c6b66e56205470929b
aiosignal==1.4.0 --hash=sha256:053243f8b92b990551949e63930a839ff0cf0b0ebbe0597b0f3fb19e1a0fe82e
attrs==26.1.0 --hash=sha256:c647aa4a12dfbad9333ca4e71fe62ddc36f4e63b2d260a37a8b83d2f043ac309
frozenlist==1.8.0 --hash=sha256:0c18a16eab41e82c295618a77502e17b195883241c563b00f0aa5106fc4eaa0d
idna==3.20 --hash=sha256:ab7ae7122974553370f0bdb919e1a960b2cd1bc1ef0276416d896db81c14582c
multidict==7.2.1 --hash=sha256:08ea94663d9e7c25d14d78222f7aee906c472d4837766bec62477c38f6e419dc
propcache==0.5.4 --hash=sha256:62c60aec739ed00124573cce1178138fd690c7676352d67a37328c1cf51d7468
typing_extensions==4.16.0 --hash=sha256:481caa481374e813c1b176ada14e97f1f67a4539ce9cfeb3f350d78d6370c2e8
yarl==1.25.1 --hash=sha256:681c758b0490f9e96b78e5fa8e8dc6e648e9185bb6eaebe73183c33ea0c445f3
";

/// Bodies that are absent, encoded, read in parts, and cut off.
const REQUESTS_BODIES: &str = "
    import requests
    url = tool_input['url']
    head = requests.head(url + '/bytes/100')
    said = {'head': [head.status_code, head.headers['content-length'], head.text, head.elapsed.total_seconds() > 0]}
    for encoding in ['gzip', 'deflate']:
        said[encoding] = requests.get(f'{url}/encoded/{encoding}').json()['greeting']
    streamed = requests.get(url + '/bytes/10', stream=True)
    said['parts'] = [len(part) for part in streamed.iter_content(4)]
    said['raw'] = requests.get(url + '/encoded/gzip', stream=True).raw.read(2).hex()
    said['methods'] = [requests.request(method, url + '/echo').json()['method'] for method in ['PUT', 'PATCH', 'DELETE', 'OPTIONS']]
    said['generated'] = requests.post(url + '/echo', data=(part for part in [b'in ', b'parts'])).json()['body']
    said['empty'] = requests.get(url + '/status/204').text
    for error in [requests.exceptions.ChunkedEncodingError, requests.ConnectionError]:
        try:
            requests.get(url + '/short')
        except error as raised:
            said[error.__name__] = 'the HTTP exchange failed' in str(raised)
    try:
        requests.get(url, proxies={'http': url})
    except requests.RequestException as raised:
        said['proxy'] = 'a tool has no proxies' in str(raised)
    return said
";

const HTTPX_BODIES: &str = "
    import httpx
    url, said = tool_input['url'], {}
    head = httpx.head(url + '/bytes/100')
    said['head'] = [head.status_code, head.headers['content-length'], head.text, head.http_version, head.reason_phrase]
    said['gzip'] = httpx.get(url + '/encoded/gzip').json()['greeting']
    with httpx.stream('GET', url + '/encoded/gzip') as streamed:
        said['raw'] = b''.join(streamed.iter_raw())[:2].hex()
    with httpx.stream('GET', url + '/bytes/10') as streamed:
        said['parts'] = [len(part) for part in streamed.iter_bytes(4)]
    try:
        httpx.get(url + '/short')
    except httpx.RemoteProtocolError as error:
        said['short'] = 'the HTTP exchange failed' in str(error)
    return said
";

const AIOHTTP: &str = "
    import aiohttp, asyncio
    said = {}
    async with aiohttp.ClientSession(tool_input['url']) as session:
        async with session.head('/bytes/100') as head:
            said['head'] = [head.status, head.headers['content-length'], await head.text()]
        for encoding in ['gzip', 'deflate']:
            async with session.get(f'/encoded/{encoding}') as answer:
                said[encoding] = (await answer.json(content_type=None))['greeting']
        async with session.post('/echo', json={'a': 1}, params={'q': 'ü'}) as answer:
            echo = await answer.json()
            said['echo'] = [echo['method'], echo['path'], echo['body']]
        async def part(count):
            async with session.get(f'/bytes/{count}') as answer:
                return [len(part) async for part in answer.content.iter_chunked(4)]
        said['parts'] = await asyncio.gather(part(10), part(3))
        try:
            async with session.get('/silent', timeout=aiohttp.ClientTimeout(total=0.1)):
                pass
        except TimeoutError as error:
            said['late'] = True
        try:
            async with session.get('http://169.254.169.254/'):
                pass
        except aiohttp.ClientConnectionError as error:
            said['refused'] = 'allowed_hosts' in str(error) or 'declare' in str(error)
        try:
            async with session.get('/short'):
                pass
        except aiohttp.ServerDisconnectedError:
            said['short'] = True
    return said
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

#[test]
fn bodies_of_requests_are_those_of_the_library() {
    let Some(said) = run("requests", REQUESTS_LOCK, REQUESTS_BODIES) else { return };
    let expected = json!({
        "head": [200, "100", "", true], "gzip": "grüße", "deflate": "grüße", "parts": [4, 4, 2], "raw": "1f8b",
        "methods": ["PUT", "PATCH", "DELETE", "OPTIONS"], "generated": "in parts", "empty": "",
        "ChunkedEncodingError": true, "ConnectionError": true, "proxy": true,
    });
    assert_eq!(said, expected);
}

#[test]
fn bodies_of_httpx_are_those_of_the_library() {
    let Some(said) = run("httpx", HTTPX_LOCK, HTTPX_BODIES) else { return };
    let expected = json!({
        "head": [200, "100", "", "HTTP/1.1", "OK"], "gzip": "grüße", "raw": "1f8b", "parts": [4, 4, 2], "short": true,
    });
    assert_eq!(said, expected);
}

#[test]
fn aiohttp_works_unchanged() {
    let Some(said) = run("aiohttp", AIOHTTP_LOCK, AIOHTTP) else { return };
    let expected = json!({
        "head": [200, "100", ""], "gzip": "grüße", "deflate": "grüße", "echo": ["POST", "/echo?q=%C3%BC", "{\"a\": 1}"],
        "parts": [[4, 4, 2], [3]], "late": true, "refused": true, "short": true,
    });
    assert_eq!(said, expected);
}
