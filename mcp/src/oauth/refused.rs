//! Why a client gets no authorisation.

use api_kit::error::Error;

use super::error::OauthError;

/// Why a request for an authorisation does not get one.
#[derive(Debug)]
pub enum AuthorizationRefused {
    /// The user reads the reason.
    Shown(OauthError),
    /// The server cannot decide now.
    Failed(Error),
}

impl From<OauthError> for AuthorizationRefused {
    fn from(error: OauthError) -> Self {
        Self::Shown(error)
    }
}

impl From<registry::Error> for AuthorizationRefused {
    fn from(error: registry::Error) -> Self {
        Self::Failed(error.into())
    }
}
