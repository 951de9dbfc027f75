//! A minimal collector of traces.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::trace::v1::Span;
use parking_lot::Mutex;
use prost::Message;

/// First line and body of each request.
type Requests = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

pub struct Collector {
    pub address: SocketAddr,
    requests: Requests,
}

impl Collector {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, requests) = (listener.local_addr().expect("an address"), Requests::default());
        let collected = Arc::clone(&requests);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // Stored before the response: a server that has exported everything may stop right afterwards.
                take(client.expect("a client"), |request| {
                    collected.lock().push(request);
                });
            }
        });
        Self { address, requests }
    }

    /// Returns all spans so far, each with the name of its service.
    pub fn spans(&self) -> Vec<(String, Span)> {
        let requests = self.requests.lock();
        let mut spans = Vec::new();
        for (line, body) in requests.iter() {
            assert_eq!(line, "POST /v1/traces HTTP/1.1");
            let export = ExportTraceServiceRequest::decode(&body[..]).expect("protobuf");
            for resource in export.resource_spans {
                let service = format!("{:?}", resource.resource);
                let scopes = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
                spans.extend(scopes.map(|span| (service.clone(), span)));
            }
        }
        spans
    }
}

/// Reads one request, stores it and answers 200.
fn take(client: TcpStream, keep: impl FnOnce((String, Vec<u8>))) {
    let mut reader = BufReader::new(client);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a line");
        if line.trim().is_empty() {
            break;
        }
        head.push(line.trim().to_owned());
    }
    let length = head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let mut body = vec![0; length.expect("a length")];
    reader.read_exact(&mut body).expect("a body");
    keep((head.remove(0), body));
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    reader.get_mut().write_all(answer).expect("an answer");
}
