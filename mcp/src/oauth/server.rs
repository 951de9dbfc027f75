//! The parts of the authorization server.

use std::sync::Arc;

use agents::AgentStore;
use api_kit::public_url::PublicBase;
use api_kit::rate::KeyLimit;
use runner::Documents;

/// The state of all OAuth operations.
#[derive(Clone)]
pub struct OauthServer {
    pub store: AgentStore,
    pub documents: Documents,
    /// `None` when signing in has no limit.
    pub key_limit: Option<Arc<KeyLimit>>,
    pub public: PublicBase,
    pub accepts_registrations: bool,
}
