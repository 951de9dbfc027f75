//! Resources that a tool cannot reach: the network, files, the environment, processes and threads.

use super::{check, fails, gives, gives_json};
use serde_json::json;

#[test]
fn the_network_is_refused_with_a_type() {
    check(&[
        fails("opens_a_socket", "import socket\nsocket.socket()", "EgressRefused", &["no sockets"]),
        fails(
            "connects",
            "import socket\nsocket.create_connection(('127.0.0.1', 80))",
            "EgressRefused",
            &["no sockets"],
        ),
        fails("resolves", "import socket\nsocket.getaddrinfo('example.com', 80)", "EgressRefused", &["no sockets"]),
        fails(
            "opens_an_url",
            OPENS,
            "EgressRefused",
            &["`allowed_hosts` of the version does not list http://127.0.0.1:1"],
        ),
        fails(
            "opens_a_secure_url",
            SECURE,
            "EgressRefused",
            &["`allowed_hosts` of the version does not list https://example.com"],
        ),
        fails("connects_for_http", HTTP, "EgressRefused", &["`allowed_hosts` of the version does not list http://x"]),
        fails("opens_a_stream", "import asyncio\nawait asyncio.open_connection('127.0.0.1', 80)", "EgressRefused", &[]),
        gives("may_catch_it", CATCHES, "EgressRefused"),
    ]);
}

const HTTP: &str = "
    import http.client
    connection = http.client.HTTPConnection('x')
    connection.request('GET', '/')
    connection.getresponse()
";
const OPENS: &str = "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:1/').read()";
const SECURE: &str = "import urllib.request\nurllib.request.urlopen('https://example.com/').read()";
const CATCHES: &str = "
    import urllib.request, urllib.error
    try:
        urllib.request.urlopen('http://169.254.169.254/')
    except urllib.error.URLError as error:
        return type(error).__name__
";

#[test]
fn there_are_no_files_and_no_environment() {
    check(&[
        fails("reads_a_file", "return open('/etc/passwd').read()", "FileNotFoundError", &["/etc/passwd"]),
        fails("reads_a_near_file", "return open('none.py').read()", "FileNotFoundError", &["none.py"]),
        case_of_writing("writes_a_file", "open('/tmp/x', 'w').write('x')"),
        case_of_writing("writes_here", "open('x', 'w').write('x')"),
        case_of_writing("makes_a_temporary_file", "import tempfile\ntempfile.NamedTemporaryFile()"),
        case_of_writing("lists_a_directory_of_a_system", "import os\nos.listdir('/etc')"),
        gives_json("lists_its_own_data", "import os\nreturn os.listdir('/')", json!(["pyproject.toml", "tool.py"])),
        gives_json("has_no_environment", "import os\nreturn dict(os.environ)", json!({})),
        gives_json("has_no_arguments", "import sys\nreturn [a for a in sys.argv if a]", json!([])),
        gives("has_its_own_data", DATA, "3"),
        gives_json("opens_its_own_data", OPENED, json!([true, true, false, true])),
    ]);
}

const OPENED: &str = "
    import os, pathlib
    with open('pyproject.toml') as file:
        text = file.read()
    path = pathlib.Path('/pyproject.toml')
    return ['[tool.lathe]' in text, path.read_text() == text, os.path.exists('none'), path.stat().st_size == len(text)]
";

/// A guest that fails with any kind of `OSError`.
fn case_of_writing(name: &'static str, body: &'static str) -> super::Case {
    super::case(
        name,
        body,
        super::Expect::That(|run| {
            let failure = run.failure();
            let kinds = ["FileNotFoundError", "PermissionError", "OSError", "NotADirectoryError"];
            assert!(kinds.contains(&failure.kind.as_str()), "{run}");
        }),
    )
}

const DATA: &str = "
    import pkgutil
    data = pkgutil.get_data(__name__, 'pyproject.toml')
    return len(data.decode().splitlines()) and 3
";

#[test]
fn there_are_no_processes_and_no_threads() {
    let refused = |name, body| {
        super::case(
            name,
            body,
            super::Expect::That(|run| {
                let failure = run.failure();
                assert!(!["trap", "internal", "exit", "AttributeError"].contains(&failure.kind.as_str()), "{run}");
            }),
        )
    };
    check(&[
        refused("starts_a_process", "import subprocess\nsubprocess.run(['ls'])"),
        refused("runs_a_shell", "import subprocess\nsubprocess.check_output('ls', shell=True)"),
        fails(
            "starts_a_thread",
            "import threading\nthreading.Thread(target=print).start()",
            "RuntimeError",
            &["can't start new thread: a tool has none"],
        ),
        refused(
            "has_a_pool",
            "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(len, '').result()",
        ),
        gives("has_locks", "import threading\nwith threading.Lock():\n    return 'locked'", "locked"),
    ]);
}

/// Packages import these modules without using them.
#[test]
fn modules_of_native_code_import_and_fail_with_the_reason() {
    check(&[
        fails("compresses", "import bz2\nbz2.compress(b'x')", "NotImplementedError", &["no bzip2"]),
        fails("decompresses", "import lzma\nlzma.decompress(b'x')", "NotImplementedError", &["no LZMA"]),
        fails("loads_a_library", "import ctypes\nctypes.CDLL('libc.so.6')", "OSError", &["no native libraries"]),
        fails(
            "starts_a_worker_process",
            "import multiprocessing\nmultiprocessing.Process(target=print).start()",
            "NotImplementedError",
            &["starts no processes"],
        ),
        gives_json("makes_a_context", CONTEXT, json!([2, true, "TLSv1_3"])),
        gives("compares_versions", VERSIONS, "True"),
        gives("loads_a_second_copy", COPY, "True"),
    ]);
}

const CONTEXT: &str = "
    import ssl
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return [context.verify_mode, context.check_hostname, context.minimum_version.name]
";
const VERSIONS: &str = "
    from distutils.version import LooseVersion
    return str(LooseVersion('1.10') > LooseVersion('1.9'))
";
const COPY: &str = "
    import html.parser, importlib.util
    spec = importlib.util.find_spec('html.parser')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return str(module.HTMLParser is not html.parser.HTMLParser)
";
