//! Reading one record.

use super::handle::History;
use super::records::{read, select_invocations};
use crate::error::Result;
use crate::history::Record;
use crate::kit::account::OrganizationId;
use crate::kit::ids::RunId;
use crate::store::database::Query;

const ONE: &str = select_invocations!("WHERE s.organization = $1 AND s.invocation = $2");

impl History {
    pub async fn get_invocation(&self, organization: &OrganizationId, invocation: &RunId) -> Result<Option<Record>> {
        let query = Query::new(ONE).bind(organization.as_str()).bind(invocation.as_str());
        query.fetch_optional(self.store.readers()).await?.as_ref().map(read).transpose()
    }
}
