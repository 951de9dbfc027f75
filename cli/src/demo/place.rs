//! The server that the demo uses.

use crate::client::Credentials;

/// The server of the demo.
pub enum Place {
    /// That of a login.
    Existing(Credentials),
    /// A temporary one, which ends with the demo.
    Temporary,
    /// A temporary one, which ends with Ctrl-C.
    Kept,
}

impl Place {
    pub fn of(login: Option<Credentials>, is_kept: bool) -> Self {
        match login {
            Some(login) => Self::Existing(login),
            None if is_kept => Self::Kept,
            None => Self::Temporary,
        }
    }
}
