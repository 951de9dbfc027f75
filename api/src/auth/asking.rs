//! All of a request that says who asks for what: what a check looks at, at first and again while a body is coming.

use axum::http::request::Parts;
use registry::{InvocationId, ToolId};

use super::credentials::{Credentials, names_only};
use super::permit::Subject;
use crate::extract::{self, PathParameter};

/// Not yet checked.
pub(super) struct Asking {
    /// None when there are none that can be read.
    pub(super) credentials: Option<Credentials>,
    /// The path's; none when the headers name another one.
    pub(super) organization: Option<String>,
    pub(super) about: About,
}

/// What the path names that conditions can look at.
pub(super) enum About {
    Tool(ToolId),
    Run(InvocationId),
    /// Also an id that none can have.
    Nothing,
}

impl Asking {
    pub(super) async fn read(parts: &mut Parts, subject: Subject) -> Self {
        let credentials = Credentials::read(&parts.headers);
        let organization = extract::parameter(parts, &(), "organization").await.ok();
        let organization = organization.filter(|organization| names_only(&parts.headers, organization));
        Self { credentials, organization, about: About::read(parts, subject).await }
    }
}

impl About {
    async fn read(parts: &mut Parts, subject: Subject) -> Self {
        let read = match subject {
            Subject::Tool => parameter(parts).await.map(Self::Tool),
            Subject::Invocation => parameter(parts).await.map(Self::Run),
            Subject::Nothing => None,
        };
        read.unwrap_or(Self::Nothing)
    }
}

async fn parameter<T: PathParameter>(parts: &mut Parts) -> Option<T> {
    let text = extract::parameter(parts, &(), T::NAME).await.ok()?;
    T::parse_parameter(&text).ok()
}
