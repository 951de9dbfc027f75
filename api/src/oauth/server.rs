//! The parts of the authorization server.

use std::sync::Arc;

use registry::Store;
use runner::Documents;

use crate::public_url::PublicBase;
use crate::rate::KeyLimit;

/// The state of all OAuth operations.
#[derive(Clone)]
pub(crate) struct OauthServer {
    pub store: Store,
    pub documents: Documents,
    /// `None` when signing in has no limit.
    pub key_limit: Option<Arc<KeyLimit>>,
    pub public: PublicBase,
    pub accepts_registrations: bool,
}
