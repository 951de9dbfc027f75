//! Server-sent events, as a client reads them.

use serde_json::Value;

/// One event.
#[derive(Debug)]
pub struct Event {
    pub name: String,
    pub data: Value,
}

pub async fn read(mut response: reqwest::Response) -> Vec<Event> {
    let kind = response.headers()["content-type"].to_str().expect("text").to_owned();
    assert!(kind.starts_with("text/event-stream"), "{kind}: {:?}", response.text().await);
    let (mut events, mut text) = (Vec::new(), String::new());
    while let Some(chunk) = response.chunk().await.expect("the stream goes on") {
        text.push_str(std::str::from_utf8(&chunk).expect("UTF-8 that is not split"));
        while let Some(end) = text.find("\n\n") {
            let block: String = text.drain(..end + 2).collect();
            events.extend(parse(&block));
        }
    }
    assert!(text.is_empty(), "half an event: {text:?}");
    events
}

/// A block without data is a comment that keeps the connection alive.
fn parse(block: &str) -> Option<Event> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let data = field("data:")?;
    let data = serde_json::from_str(data).unwrap_or_else(|error| panic!("{error}: {data}"));
    Some(Event { name: field("event:").unwrap_or("message").to_owned(), data })
}
