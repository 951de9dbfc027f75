//! Why a client gets no authorisation, and who learns the reason.

use super::error::OauthError;
use super::redirect::Redirect;
use crate::error::Error;

/// Why a request for an authorisation does not get one.
#[derive(Debug)]
pub(crate) enum AuthorizationRefused {
    /// The client or its redirect URI is not proven, so that the user reads the reason.
    Shown(OauthError),
    /// The client learns the reason.
    Sent(OauthError, Redirect),
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
