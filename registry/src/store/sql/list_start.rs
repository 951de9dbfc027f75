//! The table that a list of the history begins with: the one that has the fewest candidates, or an index in the wanted order,
//! so that most pages are read without the records after the page.

use super::effect_filters::{add_effect_table, add_other_effects, fewest_names};
use super::effect_spans::rarest;
use super::listing::Listing;
use super::origin::origin;
use super::row::to_list;
use crate::account::OrganizationId;
use crate::effect::EffectKind;
use crate::error::Result;
use crate::history::{InvocationFilter, InvocationSort, RunStates};
use crate::store::database::Statement;

/// Follows the tables of a list.
macro_rules! of_organization {
    ($tables:literal) => {
        concat!($tables, " LEFT JOIN inv_unlinked u ON u.invocation = s.invocation WHERE s.organization = $1")
    };
}

const RECORDS: &str = of_organization!("inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation");

/// The records, through an index that has them in order of age.
const BY_AGE: &str = of_organization!(
    "inv_started s {index inv_started_by_age} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
);

/// The records of one tool, through an index that has them in order of age.
const OF_ONE_TOOL: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_tool} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND s.tool = ?"
);

/// The records of one user, whose id begins so, through an index that has them in order of age.
const OF_ONE_USER: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_user} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND substr({field s.source user_id}, 1, 256) = substr(CAST(? AS TEXT), 1, 256)"
);

/// The records of one origin, through an index that has them in order of age.
const OF_ONE_ORIGIN: &str = concat!(
    of_organization!(
        "inv_started s {index inv_started_by_origin} LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND ",
    origin!(),
    " = ?"
);

/// The records of conversations, which are few.
const OF_CONVERSATIONS: &str = concat!(
    of_organization!(
        "(SELECT DISTINCT value AS conversation FROM {members ?} ids) wanted
        CROSS JOIN inv_started s {index inv_started_by_conversation}
        LEFT JOIN inv_finished f ON f.invocation = s.invocation"
    ),
    " AND s.conversation_id = wanted.conversation"
);

/// The records with an effect, which follow the table `e`.
const OF_EFFECTS: &str = concat!(
    of_organization!(" CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"),
    " AND s.invocation = e.invocation"
);

/// The running runs, which are few.
const RUNNING: &str = concat!(
    of_organization!("inv_open o CROSS JOIN inv_started s LEFT JOIN inv_finished f ON f.invocation = s.invocation"),
    " AND o.organization = $1 AND s.invocation = o.invocation"
);

/// The records that have ended, through an index that has them in order of duration.
const ENDS: &str = concat!(
    of_organization!("inv_finished f {index inv_finished_by_duration} CROSS JOIN inv_started s"),
    " AND f.organization = $1 AND s.invocation = f.invocation"
);

/// Characters of a user's id that the index has.
const USER_CHARACTERS: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum ListStart {
    Running,
    Conversations,
    /// The runs with effects of this kind.
    Effects(EffectKind),
    OneUser,
    OneTool,
    Ends,
    OneOrigin,
    Age,
    Records,
}

impl ListStart {
    pub fn of(filter: &InvocationFilter) -> Self {
        let first = filter.sort.first().map(|(sort, _)| *sort);
        if filter.states == RunStates::Running {
            Self::Running
        } else if !filter.conversation_ids.is_empty() {
            Self::Conversations
        } else if let Some(kind) = fewest_names(filter) {
            Self::Effects(kind)
        } else if filter.user_ids.len() == 1 {
            Self::OneUser
        } else if is_one_tool(filter) {
            Self::OneTool
        } else if filter.tools.is_empty()
            && first == Some(InvocationSort::DurationMs)
            && filter.states == RunStates::Finished
        {
            Self::Ends
        } else if filter.origins.len() == 1 {
            Self::OneOrigin
        } else if first.is_none_or(|first| first == InvocationSort::CreatedAt) {
            Self::Age
        } else {
            Self::Records
        }
    }

    /// Returns the start for a filter. Of several kinds of effects, that which the fewest runs had of late.
    pub async fn look_up(
        listing: &mut Listing,
        organization: &OrganizationId,
        filter: &InvocationFilter,
    ) -> Result<Self> {
        match Self::of(filter) {
            Self::Effects(kind) => Ok(Self::Effects(rarest(listing, organization, filter).await?.unwrap_or(kind))),
            start => Ok(start),
        }
    }

    /// Returns the filter without what [`ListStart::add`] has taken care of. Planners take a repeated condition for another one, and
    /// then expect too few records.
    pub fn rest(self, filter: &InvocationFilter) -> InvocationFilter {
        let mut rest = filter.clone();
        match self {
            Self::Effects(_) => {
                rest.effects.clear();
                (rest.created_after, rest.created_before) = (None, None);
            }
            // Longer ids may begin with the same characters.
            Self::OneUser => rest.user_ids.retain(|user| user.chars().count() >= USER_CHARACTERS),
            Self::OneOrigin => rest.origins.clear(),
            _ => {}
        }
        rest
    }

    /// Adds the tables, and the conditions by which the first one is read.
    pub fn add(self, statement: &mut Statement, filter: &InvocationFilter) -> Result<()> {
        match self {
            Self::Running => statement.push(RUNNING),
            Self::Conversations => statement.bind_some(OF_CONVERSATIONS, to_list(&filter.conversation_ids)?),
            Self::Effects(first) => {
                add_effect_table(statement, filter, first)?;
                statement.push(OF_EFFECTS);
                add_other_effects(statement, filter, first)?;
            }
            Self::OneUser => statement.bind_some(OF_ONE_USER, filter.user_ids.first().map(String::as_str)),
            Self::OneTool => statement.bind_some(OF_ONE_TOOL, filter.tools.first().map(|first| first.tool.as_str())),
            Self::Ends => statement.push(ENDS),
            Self::OneOrigin => statement.bind_some(OF_ONE_ORIGIN, filter.origins.first().map(|origin| origin.as_str())),
            Self::Age => statement.push(BY_AGE),
            Self::Records => statement.push(RECORDS),
        }
        Ok(())
    }
}

fn is_one_tool(filter: &InvocationFilter) -> bool {
    let first = filter.tools.first();
    first.is_some_and(|first| filter.tools.iter().all(|other| other.tool == first.tool))
}
