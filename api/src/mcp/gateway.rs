//! The methods of the protocol, for the tools of one agent.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{RunningAgent, Store};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, LoggingLevel, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use runner::Catalogue;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::calling::{Asked, Calling};
use super::changes::Watched;
use super::exposure::Exposed;
use super::pages::page;
use super::scope::Scope;
use super::turns::{call_in_turn, turn_of};

/// Time after which the end of a session is noticed.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// Answers the requests of the clients of one agent.
#[derive(Clone)]
pub(super) struct Gateway {
    pub store: Store,
    pub calling: Calling,
    /// The agent of the request, or of the first request of the session.
    pub running: Arc<RunningAgent>,
    /// The catalogue of the request. `None` after the first request of a session.
    pub catalogue: Option<Arc<Catalogue>>,
    /// The level of log messages that the session set.
    pub level: Arc<Mutex<Option<LoggingLevel>>>,
    /// Ends subscriptions when the server ends.
    pub stopping: CancellationToken,
}

impl Gateway {
    async fn catalogue(&self, scope: &Scope) -> Result<Arc<Catalogue>, ErrorData> {
        if let Some(known) = &scope.catalogue {
            return Ok(known.clone());
        }
        let found = self.calling.invoker.catalogue(&scope.principal, scope.running.clone()).await;
        found.map_err(|error| {
            tracing::error!(%error, "the tools of an agent cannot be listed");
            ErrorData::internal_error("The server failed.", None)
        })
    }

    async fn answer_call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (scope, level) = (Scope::of(&context.extensions)?, *self.level.lock());
        if let Some(turn) = turn_of(&self.store, scope, &context.meta).await? {
            let (call, form) = call_in_turn(&self.calling.invoker, turn, (request, &context))?;
            return Ok(self.calling.run(call, form, Asked { context, level }).await?.into());
        }
        let catalogue = self.catalogue(scope).await?;
        self.calling.call(&catalogue, request, Asked { context, level }).await
    }

    /// Tells a subscription of changes, until it ends.
    async fn announce_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let watched = self.watched(Scope::of(&context.request_context().extensions)?);
        let mut last = watched.digest().await;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.stopping.cancelled() => return Ok(()),
                next = watched.changed(last) => last = next,
            }
            // Without rights, the subscription ends; its client cannot begin another.
            if last.is_none() || context.sink().notify_tool_list_changed().await.is_err() {
                return Ok(());
            }
        }
    }

    fn watched(&self, scope: &Arc<Scope>) -> Watched {
        Watched { store: self.store.clone(), invoker: self.calling.invoker.clone(), scope: scope.clone() }
    }
}

/// The SDK moves the futures of methods several times, so that they are boxed: that of a call has many kilobytes.
impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_logging().build();
        let agent = &self.running.agent;
        let implementation = Implementation::new("lathe", env!("CARGO_PKG_VERSION")).with_title(agent.name.as_str());
        ServerConfig::new(capabilities).with_server_info(implementation).with_instructions(agent.description.as_str())
    }

    fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send {
        Box::pin(async move {
            let catalogue = self.catalogue(Scope::of(&context.extensions)?).await?;
            page(&catalogue, request)
        })
    }

    fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + Send {
        Box::pin(self.answer_call(request, context))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        // The present version has the level in each request.
        if context.meta.protocol_version().is_some() {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        *self.level.lock() = Some(request.level);
        Ok(())
    }

    /// The definition with which the headers of a call are compared.
    fn get_tool(&self, name: &str) -> Option<Tool> {
        Exposed(self.catalogue.as_ref()?).headed(name)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    fn listen(&self, context: SubscriptionContext) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(self.announce_changes(context))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(scope) = Scope::of(&context.extensions) else { return };
        let watched = self.watched(scope);
        let peer = context.peer;
        tokio::spawn(async move {
            let mut last = watched.digest().await;
            while last.is_some() {
                tokio::select! {
                    next = watched.changed(last) => last = next,
                    () = closed(&peer) => return,
                }
                if last.is_some() && peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Waits until a session has ended. The SDK does not announce it.
async fn closed(peer: &Peer<RoleServer>) {
    while !peer.is_transport_closed() {
        sleep(CLOSED_WITHIN).await;
    }
}
