//! The methods of the protocol, for the tools, prompts and resources of one agent.

#![expect(deprecated, reason = "log messages, which clients of earlier protocol versions ask for")]

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use registry::{LibraryFamily, RunningAgent, Store};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestMethod, CompleteRequestParams,
    CompleteResult, ConstString, GetPromptRequestMethod, GetPromptRequestParams, GetPromptResponse, GetTaskParams,
    GetTaskResult, Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, Reference,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscriptionFilter, Tool,
    UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use runner::Catalogue;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::calling::{Asked, Calling};
use super::changes::Watched;
use super::exposure::{Called, Exposed};
use super::library_items::LibraryItems;
use super::library_reads::ItemReader;
use super::pages::page;
use super::scope::Scope;
use super::tasks::{Callee, Tasks};
use super::turns::{call_in_turn, turn_of};
use super::{completion, prompts, resources};

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
        let (listed, request) = match Exposed(&catalogue).called(request)? {
            Called::Tool(listed, request) => (listed, request),
            Called::Failed(result) => return Ok(result.into()),
        };
        let callee = Callee { listed: &listed, arguments: request.arguments.as_ref() };
        match self.tasks(&context)?.start(&callee, &context).await? {
            Some(task) => Ok(task),
            None => self.calling.call((listed, request), Asked { context, level }).await,
        }
    }

    fn tasks<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<Tasks<'a>, ErrorData> {
        Ok(Tasks { store: &self.store, calling: &self.calling, scope: Scope::of(&context.extensions)? })
    }

    /// Returns the items of a family of the Library. An agent without the family does not have the method.
    fn items<M: ConstString>(
        &self,
        context: &RequestContext<RoleServer>,
        family: LibraryFamily,
    ) -> Result<LibraryItems, ErrorData> {
        let scope = Scope::of(&context.extensions)?;
        if !scope.running.has_family(family) {
            return Err(ErrorData::method_not_found::<M>());
        }
        Ok(LibraryItems::of(&self.store, scope, family))
    }

    async fn answer_completion(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let items = |family| self.items::<CompleteRequestMethod>(&context, family);
        match &request.r#ref {
            Reference::Prompt(prompt) => {
                completion::of_prompt(&items(LibraryFamily::Prompts)?, &prompt.name, &request.argument).await
            }
            Reference::Resource(template) => {
                completion::of_resource(&items(LibraryFamily::Artifacts)?, &template.uri, &request.argument).await
            }
            _ => Err(ErrorData::invalid_params("The reference is neither a prompt nor a resource template.", None)),
        }
    }

    /// Tells a subscription of changes, until it ends.
    async fn announce_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let watched = self.watched(Scope::of(&context.request_context().extensions)?, context.accepted().clone());
        // Without rights, the subscription ends; its client cannot begin another.
        let Some(mut last) = watched.seen().await else { return Ok(()) };
        loop {
            let changed = tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.stopping.cancelled() => return Ok(()),
                changed = watched.changed(last) => changed,
            };
            let Some((now, notifications)) = changed else { return Ok(()) };
            for notification in notifications {
                if context.sink().send(notification).await.is_err() {
                    return Ok(());
                }
            }
            last = now;
        }
    }

    fn watched(&self, scope: &Arc<Scope>, lists: SubscriptionFilter) -> Watched {
        Watched { store: self.store.clone(), invoker: self.calling.invoker.clone(), scope: scope.clone(), lists }
    }
}

/// The capabilities of an agent: prompts and resources by its families.
fn capabilities(running: &RunningAgent) -> ServerCapabilities {
    let all = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_logging();
    let all = all.enable_prompts().enable_prompts_list_changed().enable_resources().enable_resources_list_changed();
    let mut capabilities = all.enable_completions().enable_tasks().build();
    let has_prompts = running.has_family(LibraryFamily::Prompts);
    let has_artifacts = running.has_family(LibraryFamily::Artifacts);
    capabilities.prompts = capabilities.prompts.filter(|_| has_prompts);
    capabilities.resources = capabilities.resources.filter(|_| has_artifacts);
    capabilities.completions = capabilities.completions.filter(|_| has_prompts || has_artifacts);
    capabilities
}

/// The SDK moves the futures of methods several times, so that they are boxed: that of a call has many kilobytes.
impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        let agent = &self.running.agent;
        let implementation = Implementation::new("lathe", env!("CARGO_PKG_VERSION")).with_title(agent.name.as_str());
        let config = ServerConfig::new(capabilities(&self.running)).with_server_info(implementation);
        config.with_instructions(agent.description.as_str())
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

    fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> + Send {
        Box::pin(async move {
            let items = self.items::<ListPromptsRequestMethod>(&context, LibraryFamily::Prompts)?;
            prompts::list(&items, request).await
        })
    }

    fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetPromptResponse, ErrorData>> + Send {
        Box::pin(async move {
            let items = self.items::<GetPromptRequestMethod>(&context, LibraryFamily::Prompts)?;
            let reader = ItemReader { calling: &self.calling, context: &context };
            prompts::get((&items, &reader), request).await.map(GetPromptResponse::from)
        })
    }

    fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourcesResult, ErrorData>> + Send {
        Box::pin(async move {
            let items = self.items::<ListResourcesRequestMethod>(&context, LibraryFamily::Artifacts)?;
            resources::list(&items, request).await
        })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.items::<ListResourceTemplatesRequestMethod>(&context, LibraryFamily::Artifacts)?;
        resources::templates(request)
    }

    fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ReadResourceResponse, ErrorData>> + Send {
        Box::pin(async move {
            self.items::<ReadResourceRequestMethod>(&context, LibraryFamily::Artifacts)?;
            let reader = ItemReader { calling: &self.calling, context: &context };
            resources::read(&reader, request).await.map(ReadResourceResponse::from)
        })
    }

    fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetTaskResult, ErrorData>> + Send {
        Box::pin(async move {
            let task = self.tasks(&context)?.get(&request.task_id).await?;
            Ok(GetTaskResult::new(task))
        })
    }

    fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(async move { self.tasks(&context)?.update(&request.task_id, request.input_responses).await })
    }

    fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(async move { self.tasks(&context)?.cancel(&request.task_id).await })
    }

    fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<CompleteResult, ErrorData>> + Send {
        Box::pin(self.answer_completion(request, context))
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
        // The SDK removes the lists that the agent does not have. Single resources are left out: they never change.
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        accepted.resources_list_changed = requested.resources_list_changed;
        Some(accepted)
    }

    fn listen(&self, context: SubscriptionContext) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(self.announce_changes(context))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(scope) = Scope::of(&context.extensions) else { return };
        let lists = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().resources_list_changed();
        let watched = self.watched(scope, lists.build().supported_by(&capabilities(&self.running)));
        let peer = context.peer;
        tokio::spawn(async move {
            let Some(mut last) = watched.seen().await else { return };
            loop {
                let changed = tokio::select! {
                    changed = watched.changed(last) => changed,
                    () = closed(&peer) => return,
                };
                let Some((now, notifications)) = changed else { return };
                for notification in notifications {
                    if peer.send_notification(notification).await.is_err() {
                        return;
                    }
                }
                last = now;
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
