//! NUL in texts that clients choose: refused in ids and filters, because some databases refuse it, and kept in the texts of
//! tools.

use registry::{
    Effect, EffectKind, InvocationSource, Page, RunFilter, SearchQuery, SearchText, TagFilter, TagValue, ToolFilter,
};

use crate::fixtures::{World, conversation, started, starts, unlinked};

#[tokio::test]
async fn ids_with_nul_are_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let of = |user: &str, id: &str, interaction: &str| {
        let InvocationSource::RegularConversation { invocation_metadata, .. } = conversation("", "") else { panic!() };
        InvocationSource::RegularConversation {
            user_id: user.to_owned(),
            conversation_id: Some(id.to_owned()),
            interaction_id: Some(interaction.to_owned()),
            invocation_metadata,
        }
    };
    for source in [of("a\0", "c", "i"), of("a", "\0", "i"), of("a", "c", "i\0")] {
        let mut run = started(&world.clock, &acme);
        run.source = source;
        assert_eq!(world.store.history().record(&starts(vec![run])).await.unwrap_err().code(), "invalid_value");
    }
    for (id, interaction) in [("c\0", None), ("c", Some("\0"))] {
        let refused = world.store.history().record(&unlinked(&acme, id, interaction)).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_value");
    }
    world.answered(&acme, "the writer is not affected").await;
}

#[tokio::test]
async fn filters_with_nul_are_refused() {
    let world = World::new().await;
    let acme = world.organization("acme").await;
    let (store, organization) = (&world.store, &acme.organization);
    let (nul, any) = (|| vec!["a\0".to_owned()], RunFilter::default);
    let effect = Effect { kind: EffectKind::Host, name: "\0".to_owned() };
    for filter in [
        RunFilter { conversation_ids: nul(), ..any() },
        RunFilter { simulation_unit_test_set_run_ids: nul(), ..any() },
        RunFilter { user_ids: nul(), ..any() },
        RunFilter { effects: vec![effect], ..any() },
    ] {
        let refused = store.history().list_invocations(organization, &filter, Page::first(1)).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_value", "{filter:?}");
        let query = SearchQuery { text: SearchText::parse("a").unwrap(), fields: Vec::new(), filter };
        let refused = store.history().search_invocations(organization, &query, Page::first(1)).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_value", "{query:?}");
    }
    for (key, value) in [("a\0", TagValue::Any), ("a", TagValue::Equals("\0".to_owned()))] {
        let filter = ToolFilter { tags: vec![TagFilter { key: key.to_owned(), value }], ..ToolFilter::default() };
        let refused = store.tools().list_tools(organization, &filter, Page::first(1)).await.unwrap_err();
        assert_eq!(refused.code(), "invalid_value", "{filter:?}");
    }
}
