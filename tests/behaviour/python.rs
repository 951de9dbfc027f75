//! Python: asyncio, the standard library, printing.

use serde_json::json;

use super::{Case, check, fails, gives, gives_json};
use crate::harness::{SIGNATURE, Team};

#[test]
fn asyncio() {
    let async_case = |name, body, output: &str| -> Case { gives(name, body, output).before("import asyncio") };
    check(&[
        async_case("sleeps", "await asyncio.sleep(0.05)\nreturn 'awake'", "awake"),
        async_case("gathers", "return list(await asyncio.gather(work(1), work(2)))", "[2,4]").before(WORK),
        async_case("groups", GROUPS, "[2,4]").before(WORK),
        async_case("times_out", "async with asyncio.timeout(0.05):\n    await asyncio.sleep(60)", "")
            .fails_with("TimeoutError"),
        async_case("waits_for", "return await asyncio.wait_for(work(3), 60)", "6").before(WORK),
        async_case("waits_too_long", "await asyncio.wait_for(asyncio.sleep(60), 0.05)", "").fails_with("TimeoutError"),
        async_case("to_a_thread", "return await asyncio.to_thread(len, 'four')", "4"),
        async_case("queues", "q = asyncio.Queue()\nawait q.put(5)\nreturn await q.get()", "5"),
        async_case("runs_a_task", "task = asyncio.create_task(work(4))\nreturn await task", "8").before(WORK),
        async_case("sleeps_side_by_side", SIDE_BY_SIDE, "True"),
        async_case("leaves_a_task_behind", "asyncio.create_task(asyncio.sleep(60))\nreturn 'gone'", "gone"),
    ]);
}

const WORK: &str = "import asyncio\n\nasync def work(n):\n    await asyncio.sleep(0.01)\n    return n * 2";

const GROUPS: &str = "
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work(n)) for n in (1, 2)]
    return [task.result() for task in tasks]
";

const SIDE_BY_SIDE: &str = "
    order = []
    async def sleeps():
        order.append('begins')
        await asyncio.sleep(0.2)
        order.append('ends')
    await asyncio.gather(*(sleeps() for _ in range(20)))
    return str(order == ['begins'] * 20 + ['ends'] * 20)
";

impl Case {
    fn fails_with(self, kind: &'static str) -> Self {
        Self { expect: super::Expect::Failure(kind, &[]), ..self }
    }
}

/// The image is built so that a run copies few of its pages. Tools must not notice.
#[test]
fn objects_and_memory_of_the_image_work() {
    let immortal = "import json, sys\nreturn [sys._is_immortal(thing) for thing in (json, json.loads, object(), [])]";
    check(&[
        gives_json("shares_objects", immortal, json!([true, true, false, false])),
        gives_json("counts_its_own", "import sys\nmine = []\nreturn sys.getrefcount(mine) < 5", json!(true)),
        gives("takes_and_gives_back_memory", TAKES_AND_GIVES_BACK, "intact").manifest("timeout_seconds = 300"),
    ]);
}

const TAKES_AND_GIVES_BACK: &str = "
    import gc, random
    kept = {}
    for turn in range(20_000):
        key = random.randrange(500)
        old = kept.pop(key, b'')
        if old != bytes([key % 251]) * len(old):
            return f'{key} is spoilt'
        kept[key] = bytes([key % 251]) * random.choice((1, 7, 30, 200, 1_000, 9_000, 70_000))
        if turn % 5_000 == 0:
            kept.clear()
            gc.collect()
    return 'intact'
";

#[test]
fn a_plain_function_is_an_entry_point_too() {
    let team = Team::new();
    let plain = format!("def {SIGNATURE}:\n    send_status_event('hi')\n    return tool_input['x'] * 2\n");
    let tool = team.tool("plain").with_file("tool.py", &plain).published();
    let run = tool.invoke(json!({"x": 21}));
    assert_eq!(run.output(), "42");
    let record = team.get(&format!("/tool/invocation/{}", run.id()));
    assert_eq!(record["status_events"][0]["message"], "hi");
}

#[test]
fn another_module_may_hold_the_entry_point() {
    let team = Team::new();
    let source = format!(
        "from .words import WORD\n\nasync def main({}:\n    return WORD\n",
        SIGNATURE.split_once('(').expect("(").1
    );
    let tool = team.tool("elsewhere").without_file("tool.py").with_file("src/app/__init__.py", "");
    let tool = tool.with_file("src/app/main.py", &source).with_file("src/app/words.py", "WORD = 'from a package'\n");
    let tool = tool.manifest("entry_point = 'app.main:main'").published();
    assert_eq!(tool.invoke(json!({})).output(), "from a package");
}

#[test]
fn a_project_may_use_any_module_names() {
    let team = Team::new();
    for name in ["app", "run", "bundle", "world", "main", "utils"] {
        let tool = team.next_tool().with_file(&format!("{name}/__init__.py"), "");
        let tool = tool.with_file(&format!("{name}/words.py"), "WORD = __name__\n");
        let tool = tool.source(&format!("from {name} import words"), "return words.WORD").published();
        assert_eq!(tool.invoke(json!({})).output(), format!("{name}.words"));
    }
}

#[test]
fn a_directory_needs_no_init_file() {
    let team = Team::new();
    let tool = team.tool("loose").with_file("parts/deep/words.py", "WORD = 'found'\n");
    let tool =
        tool.source("from parts.deep import words\nimport parts", "return [words.WORD, parts.__name__]").published();
    assert_eq!(tool.invoke(json!({})).json(), json!(["found", "parts"]));
}

#[test]
fn data_files_travel_with_their_package() {
    let team = Team::new();
    let before = "import pkgutil, importlib.resources\nimport store";
    let tool = team.tool("data").with_file("store/__init__.py", "").with_file("store/prices.json", "{\"tea\": 3}\n");
    let tool = tool.with_bytes("store/raw.bin", &[0, 255, 10]);
    let body = "
        root = importlib.resources.files(store)
        assert [entry.name for entry in root.iterdir()] == ['prices.json', 'raw.bin']
        text = (root / 'prices.json').read_text(encoding='utf-8')
        raw = pkgutil.get_data('store', 'raw.bin')
        return [text.strip(), list(raw)]
    ";
    let tool = tool.source(before, body).published();
    assert_eq!(tool.invoke(json!({})).json(), json!(["{\"tea\": 3}", [0, 255, 10]]));
}

#[test]
fn a_tool_reads_its_own_files() {
    let team = Team::new();
    let body = "
        import os, pathlib
        said = [open('tool.py').readline().strip(), os.path.getsize('tool.py') == len(pathlib.Path('tool.py').read_bytes())]
        for name, mode in [('tool.py', 'w'), ('store', 'r'), ('none.txt', 'r')]:
            try:
                open(name, mode)
            except OSError as error:
                said.append([type(error).__name__, error.strerror])
        return said + [open('caf\u{e9}.txt').read(), open('cafe\u{301}.txt').read()]
    ";
    let tool = team.tool("own").with_file("store/a.txt", "").with_file("cafe\u{301}.txt", "decomposed");
    let said = tool.source("# The first line", body).published().invoke(json!({})).json();
    assert_eq!((&said[0], &said[1]), (&json!("# The first line"), &json!(true)), "{said}");
    assert!(said[2][1].as_str().is_some_and(|reason| reason.contains("a tool cannot write files")), "{said}");
    assert_eq!((&said[3][0], &said[4][0]), (&json!("IsADirectoryError"), &json!("FileNotFoundError")), "{said}");
    assert_eq!((&said[5], &said[6]), (&json!("decomposed"), &json!("decomposed")), "{said}");
}

#[test]
fn modules_are_found_by_composed_and_decomposed_names() {
    let team = Team::new();
    let tool = team.tool("composes").with_file("cafe\u{301}.py", "word = 'found'\n");
    let before = "import caf\u{e9}\nfrom cafe\u{301} import word";
    assert_eq!(
        tool.source(before, "return [word, caf\u{e9}.word]").published().invoke(json!({})).json(),
        json!(["found", "found"])
    );
}

#[test]
fn lines_of_a_stack_trace_are_those_of_python() {
    let team = Team::new();
    let before = "text = 'a\u{2028}b\u{85}c'\n\ndef fail():\n    raise ValueError('here')";
    let failure = team.tool("separated").source(before, "fail()").published().invoke(json!({})).failure();
    assert!(failure.trace.iter().any(|line| line.trim() == "raise ValueError('here')"), "{:?}", failure.trace);
}

#[test]
fn printed_text_is_part_of_the_record() {
    let team = Team::new();
    let body = "import sys\nprint('seen', tool_input['n'])\nprint('wrong', file=sys.stderr)\nprint('x' * tool_input['n'])\nreturn ''";
    let tool = team.tool("prints").body(body).published();
    let logs = |n: usize| {
        let run = tool.invoke(json!({"n": n}));
        team.get(&format!("/tool/invocation/{}", run.id()))["logs"].as_str().expect("text").to_owned()
    };
    assert_eq!(logs(3), "seen 3\nwrong\nxxx\n");
    let cut = logs(1 << 20);
    assert!(cut.starts_with("seen 1048576\nwrong\nxxx") && cut.ends_with("[truncated]"), "{} bytes", cut.len());
    assert!(cut.len() < 70_000, "{} bytes", cut.len());
}

#[test]
fn the_standard_library_can_be_imported() {
    check(&[
        gives("waves", "import wave, io\nreturn wave.__name__", "wave"),
        // Time zones of regions need the package `tzdata`, as on every system without them.
        fails(
            "zones",
            ZONE,
            "ZoneInfoNotFoundError",
            &["Europe/Berlin", "add the package tzdata to requirements.lock"],
        ),
        gives_json("utc", UTC, json!(["2026-07-01T12:00:00+00:00", "UTC", true])),
        gives("statistics", "import statistics\nreturn statistics.mean([1, 2, 3])", "2"),
        gives("tomls", "import tomllib\nreturn tomllib.loads('a = 1')['a']", "1"),
        gives("zips", "import zipfile, io\nreturn zipfile.is_zipfile(io.BytesIO(b''))", "false"),
        gives("xml", "import xml.dom.minidom as m\nreturn m.parseString('<a/>').documentElement.tagName", "a"),
        gives("sax", "import xml.sax\nreturn xml.sax.__name__", "xml.sax"),
        gives(
            "mail",
            "from email.mime.multipart import MIMEMultipart\nreturn MIMEMultipart().get_content_type()",
            "multipart/mixed",
        ),
        gives("decimals", "from decimal import Decimal\nreturn str(Decimal('0.1') + Decimal('0.2'))", "0.3"),
        gives("digests", "import hashlib\nreturn hashlib.sha256(b'').hexdigest()[:8]", "e3b0c442"),
        gives("compresses", "import zlib\nreturn len(zlib.decompress(zlib.compress(b'x' * 1000)))", "1000"),
        gives("classes", "import dataclasses, enum, typing, abc\nreturn 'typed'", "typed"),
        gives(
            "graphs",
            "import graphlib\nreturn list(graphlib.TopologicalSorter({'a': ['b']}).static_order())",
            "[\"b\",\"a\"]",
        ),
        gives("unittests", "import unittest\nreturn unittest.TestCase.__name__", "TestCase"),
        gives("matches", "import re\nreturn re.sub(r'(\\w)(\\d)', r'\\2\\1', 'a1')", "1a"),
        gives("templates", "import string\nreturn string.Template('$a').substitute(a='b')", "b"),
        gives("contexts", "import contextlib\nreturn contextlib.suppress.__name__", "suppress"),
        gives("executes", "x = {}\nexec('y = 1 + 1', x)\nreturn x['y']", "2"),
        gives("databases", "import sqlite3\nreturn sqlite3.connect(':memory:').execute('SELECT 7').fetchone()[0]", "7"),
    ]);
}

const UTC: &str = "
    import datetime, zoneinfo
    at = datetime.datetime(2026, 7, 1, 12, tzinfo=zoneinfo.ZoneInfo('UTC'))
    return [at.isoformat(), at.tzname(), 'UTC' in zoneinfo.available_timezones()]
";

const ZONE: &str = "
    import datetime, zoneinfo
    berlin = zoneinfo.ZoneInfo('Europe/Berlin')
    return datetime.datetime(2026, 7, 1, 12, tzinfo=berlin).isoformat()
";

#[test]
fn printing_is_harmless() {
    check(&[
        gives("prints", "print('to stdout')\nimport sys\nprint('to stderr', file=sys.stderr)\nreturn 'ok'", "ok"),
        gives("prints_a_megabyte", "print('x' * (1 << 20))\nreturn 'ok'", "ok"),
        gives("prints_without_end", "for _ in range(20_000):\n    print('x' * 100)\nreturn 'ok'", "ok"),
        gives("logs", "import logging\nlogging.warning('careful')\nreturn 'ok'", "ok"),
        gives(
            "prints_bytes",
            "import sys\nsys.stdout.buffer.write(b'\\xff\\x00')\nsys.stdout.flush()\nreturn 'ok'",
            "ok",
        ),
        gives("closes_stdout", "import sys\nsys.stdout.close()\nreturn 'ok'", "ok"),
        gives("asks", "try:\n    return input('name? ')\nexcept EOFError:\n    return 'nobody there'", "nobody there"),
    ]);
}

#[test]
fn status_events_are_bounded_and_harmless() {
    check(&[
        gives("sends_thousands", "for n in range(5_000):\n    await send_status_event(str(n))\nreturn 'ok'", "ok"),
        gives("sends_a_large_one", "await send_status_event('x' * 100_000)\nreturn 'ok'", "ok"),
        gives("sends_without_await", "send_status_event('x', data={'deep': [1]})\nreturn 'ok'", "ok"),
        fails("sends_a_number", "await send_status_event(3)", "TypeError", &["message must be str"]),
        fails("sends_a_set", "await send_status_event('x', data={1})", "TypeError", &["JSON"]),
        fails("sends_nan", "await send_status_event('x', progress=float('nan'))", "ValueError", &["progress"]),
        gives_json("sends_none", "return [await send_status_event('x')]", json!([null])),
    ]);
}
