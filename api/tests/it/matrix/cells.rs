//! The dimensions of the matrix that do not depend on the route: credentials, organisation, object.

use axum::body::Bytes;
use axum::http::{HeaderName, HeaderValue};

/// The organisation of `ada`, the organisation of `eve`, and one that does not exist.
pub const ACME: &str = "acme";
pub const OTHER: &str = "other";
pub const NOWHERE: &str = "nowhere";

/// The credentials of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    Nothing,
    Bearer(Identity),
    Basic(Identity),
    /// A valid token under another user's name.
    BasicWrongName,
    BearerNamingOwn,
    BearerNamingOther,
    /// Valid credentials of another organisation that name this one.
    StrangerNamingAcme,
    TwoHeaders,
}

/// The owner or the state of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    Ada,
    /// A colleague of ada's with every permission but that of administrators.
    Cem,
    Eve,
    Expired,
    Revoked,
    /// A well-formed token that was never issued.
    Invented,
}

impl Credential {
    pub const ALL: &[Self] = &[
        Self::Nothing,
        Self::Bearer(Identity::Ada),
        Self::Bearer(Identity::Cem),
        Self::Bearer(Identity::Eve),
        Self::Bearer(Identity::Expired),
        Self::Bearer(Identity::Revoked),
        Self::Bearer(Identity::Invented),
        Self::Basic(Identity::Ada),
        Self::Basic(Identity::Eve),
        Self::BasicWrongName,
        Self::BearerNamingOwn,
        Self::BearerNamingOther,
        Self::StrangerNamingAcme,
        Self::TwoHeaders,
    ];

    /// The organisation of the credentials; `acme` without any that are valid.
    pub fn home(self) -> &'static str {
        self.valid_in().map_or(ACME, |(home, _)| home)
    }

    /// Returns the organisation that the credentials belong to, and the organisation that they name.
    fn valid_in(self) -> Option<(&'static str, Option<&'static str>)> {
        match self {
            Self::Bearer(Identity::Ada) | Self::Basic(Identity::Ada) => Some((ACME, None)),
            Self::Bearer(Identity::Eve) | Self::Basic(Identity::Eve) => Some((OTHER, None)),
            Self::Bearer(Identity::Cem) => Some((ACME, None)),
            Self::BearerNamingOwn => Some((ACME, Some(ACME))),
            Self::BearerNamingOther => Some((ACME, Some(OTHER))),
            Self::StrangerNamingAcme => Some((OTHER, Some(ACME))),
            Self::Nothing | Self::Bearer(_) | Self::Basic(_) | Self::BasicWrongName | Self::TwoHeaders => None,
        }
    }
}

/// The owner of the object that the path names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Id {
    OfAcme,
    OfOther,
    /// All ids belong to the organisation in the path, except the last one.
    ForeignEnd,
    Unknown,
    Malformed,
    NotText,
}

impl Id {
    pub const ALL: &[Self] =
        &[Self::OfAcme, Self::OfOther, Self::ForeignEnd, Self::Unknown, Self::Malformed, Self::NotText];
}

#[derive(Clone, Copy, Debug)]
pub struct Cell {
    pub credential: Credential,
    pub organization: &'static str,
    pub id: Id,
}

/// The relation of a caller to the organisation in the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No valid credentials.
    Nobody,
    /// Valid credentials of another organisation, or that name another one.
    Stranger,
    /// A user of the organisation who is no administrator.
    Colleague,
    Administrator,
}

impl Cell {
    pub fn find_standing(&self) -> Standing {
        match self.credential.valid_in() {
            None => Standing::Nobody,
            Some((home, named)) if home == self.organization && named.is_none_or(|named| named == home) => {
                let is_colleague = self.credential == Credential::Bearer(Identity::Cem);
                if is_colleague { Standing::Colleague } else { Standing::Administrator }
            }
            Some(_) => Standing::Stranger,
        }
    }

    /// Whether the object belongs to the organisation in the path.
    pub fn is_theirs(&self) -> bool {
        matches!((self.organization, self.id), (ACME, Id::OfAcme) | (OTHER, Id::OfOther))
    }
}

/// An answer, without its request id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub status: u16,
    pub headers: Vec<(HeaderName, HeaderValue)>,
    pub body: Bytes,
}

impl Seen {
    /// Whether the response asks for the same request again.
    pub fn is_busy(&self) -> bool {
        self.status == 503 && self.headers.iter().any(|(name, _)| name == "retry-after")
    }
}
