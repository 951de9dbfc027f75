//! Export of spans to a collector: OTLP over HTTP, in batches, from a thread of its own. If the collector is slow or
//! unreachable, only its spans are lost.

use std::env;
use std::pin::Pin;
use std::time::Duration;

use anyhow::Context;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;

use crate::failure::Failure;

/// Path of traces below a collector's endpoint.
const TRACES_PATH: &str = "v1/traces";

/// Timeout of one batch.
const EXPORT_TIME_MAX: Duration = Duration::from_secs(10);

/// Default service name in traces, which `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override.
const SERVICE: &str = "lathe";

/// Builds a tracer provider that exports to the collector at `endpoint`.
pub fn build_provider(endpoint: &str) -> anyhow::Result<SdkTracerProvider> {
    let url = build_traces_url(endpoint)?;
    let client =
        reqwest::Client::builder().timeout(EXPORT_TIME_MAX).build().context("building the HTTP client for traces")?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_http_client(Client { client, runtime: Handle::current() })
        .with_endpoint(url)
        .with_timeout(EXPORT_TIME_MAX)
        .build()
        .context("building the exporter of traces")?;
    Ok(SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(describe_resource()).build())
}

fn build_traces_url(endpoint: &str) -> anyhow::Result<String> {
    let refused = |reason: String| {
        Failure::usage(
            format!("`{endpoint}` is not an endpoint for traces: {reason}"),
            "give the address of a collector of OTLP over HTTP, such as http://127.0.0.1:4318",
        )
    };
    let url = reqwest::Url::parse(endpoint).map_err(|error| refused(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused(format!("{} is not http or https", url.scheme())));
    }
    Ok(format!("{}/{TRACES_PATH}", endpoint.trim_end_matches('/')))
}

fn describe_resource() -> Resource {
    let is_named =
        |variable: &str, part: &str| env::var(variable).is_ok_and(|value| !value.is_empty() && value.contains(part));
    let builder =
        Resource::builder().with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if is_named("OTEL_SERVICE_NAME", "") || is_named("OTEL_RESOURCE_ATTRIBUTES", "service.name=") {
        return builder.build();
    }
    builder.with_service_name(SERVICE).build()
}

/// An HTTP client that sends on the server's runtime, since the exporter's thread has none.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    runtime: Handle,
}

impl HttpClient for Client {
    fn send_bytes<'s, 'f>(
        &'s self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        let sent = self.runtime.spawn(send(self.client.clone(), request));
        Box::pin(async move { sent.await? })
    }
}

async fn send(client: reqwest::Client, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
    let answer = client.execute(request.try_into()?).await?;
    let status = answer.status();
    let mut response = Response::new(answer.bytes().await?);
    *response.status_mut() = status;
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::build_traces_url;

    #[test]
    fn an_endpoint_is_the_address_of_a_collector() {
        let check = |endpoint: &str, expect: Option<&str>| {
            assert_eq!(build_traces_url(endpoint).ok().as_deref(), expect, "{endpoint}");
        };
        check("http://127.0.0.1:4318", Some("http://127.0.0.1:4318/v1/traces"));
        check("https://collector.example/otlp/", Some("https://collector.example/otlp/v1/traces"));
        check("127.0.0.1:4318", None);
        check("grpc://127.0.0.1:4317", None);
        check("", None);
    }
}
