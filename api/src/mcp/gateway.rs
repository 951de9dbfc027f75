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
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SetLevelRequestParams, SubscribeRequestMethod,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, Peer, RoleServer, ServerHandler};
use runner::{Catalogue, ListedTool};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::calling::{Asked, Calling};
use super::changes::Watched;
use super::exposure::{Called, Exposed};
use super::library_items::LibraryItems;
use super::library_reads::ItemReader;
use super::mixed_list::MixedList;
use super::pages::page;
use super::resource_watch::{VisibleResources, WATCHED_MAX, WatchedResources};
use super::scope::Scope;
use super::tasks::Tasks;
use super::turns::{call_in_turn, turn_of};
use super::{completion, prompts, resources, tool_forms, tool_prompts, tool_resources};

/// Time after which the end of a session is noticed.
const CLOSED_WITHIN: Duration = Duration::from_secs(5);

/// Answers the requests of the clients of one agent.
#[derive(Clone)]
pub(super) struct Gateway {
    pub store: Store,
    pub calling: Calling,
    /// The agent of the request, or of the first request of the session.
    pub running: Arc<RunningAgent>,
    /// The catalogue of the request, or of the first request of the session.
    pub catalogue: Arc<Catalogue>,
    /// The level of log messages that the session set.
    pub level: Arc<Mutex<Option<LoggingLevel>>>,
    /// The resources that the session watches.
    pub watched_resources: WatchedResources,
    /// Ends subscriptions when the server ends.
    pub stopping: CancellationToken,
}

impl Gateway {
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
        let (listed, request) = match Exposed(&scope.catalogue).called(request)? {
            Called::Tool(listed, request) => (listed, request),
            Called::Failed(result) => return Ok(result.into()),
        };
        match self.tasks(&context)?.start((&listed, &request), &context).await? {
            Some(task) => Ok(task),
            None => self.calling.call((listed, request), Asked { context, level }).await,
        }
    }

    fn tasks<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> Result<Tasks<'a>, ErrorData> {
        Ok(Tasks { store: &self.store, calling: &self.calling, scope: Scope::of(&context.extensions)? })
    }

    /// Returns a list of tools and of items of the Library. An agent with neither does not have the method.
    fn list<'c, M: ConstString>(
        &self,
        scope: &'c Scope,
        (family, tools): (LibraryFamily, Vec<&'c ListedTool>),
    ) -> Result<MixedList<'c>, ErrorData> {
        let has_family = scope.running.has_family(family);
        if !has_family && tools.is_empty() {
            return Err(ErrorData::method_not_found::<M>());
        }
        Ok(MixedList { tools, items: has_family.then(|| LibraryItems::of(&self.store, scope, family)) })
    }

    fn prompts<'c, M: ConstString>(&self, scope: &'c Scope) -> Result<MixedList<'c>, ErrorData> {
        self.list::<M>(scope, (LibraryFamily::Prompts, tool_forms::prompts(&scope.catalogue)))
    }

    fn resources<'c, M: ConstString>(&self, scope: &'c Scope) -> Result<MixedList<'c>, ErrorData> {
        self.list::<M>(scope, (LibraryFamily::Artifacts, tool_forms::resources(&scope.catalogue)))
    }

    fn asked(&self, context: RequestContext<RoleServer>) -> Asked {
        Asked { context, level: *self.level.lock() }
    }

    async fn answer_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let scope = Scope::of(&context.extensions)?.clone();
        let list = self.prompts::<GetPromptRequestMethod>(&scope)?;
        if let Some(tool) = list.tools.iter().find(|tool| tool.name == request.name) {
            return tool_prompts::get(&self.calling, (tool, request), self.asked(context)).await;
        }
        let items = list.items.ok_or_else(|| prompts::unknown(&request.name))?;
        let reader = ItemReader { calling: &self.calling, context: &context };
        prompts::get((&items, &reader), request).await.map(GetPromptResponse::from)
    }

    async fn answer_read(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let scope = Scope::of(&context.extensions)?.clone();
        let list = self.resources::<ReadResourceRequestMethod>(&scope)?;
        if let Some(found) = tool_resources::find(&scope.catalogue, &request.uri) {
            return tool_resources::read(&self.calling, (found, request), self.asked(context)).await;
        }
        if list.items.is_none() {
            return Err(resources::unknown(&request.uri));
        }
        let reader = ItemReader { calling: &self.calling, context: &context };
        resources::read(&reader, request).await.map(ReadResourceResponse::from)
    }

    async fn answer_completion(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let scope = Scope::of(&context.extensions)?;
        match &request.r#ref {
            Reference::Prompt(prompt) => {
                let list = self.prompts::<CompleteRequestMethod>(scope)?;
                completion::of_prompt(&list, &prompt.name, &request.argument).await
            }
            Reference::Resource(template) => {
                let list = self.resources::<CompleteRequestMethod>(scope)?;
                completion::of_resource(&list, &template.uri, &request.argument).await
            }
            _ => Err(ErrorData::invalid_params("The reference is neither a prompt nor a resource template.", None)),
        }
    }

    /// Tells a subscription of changes, until it ends.
    async fn announce_changes(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let scope = Scope::of(&context.request_context().extensions)?;
        let watched = self.watched(scope, context.accepted().clone(), WatchedResources::default());
        // Without rights, the subscription ends; its client cannot begin another.
        let Some(mut last) = watched.begin().await else { return Ok(()) };
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

    fn watched(&self, scope: &Arc<Scope>, lists: SubscriptionFilter, resources: WatchedResources) -> Watched {
        let (store, invoker) = (self.store.clone(), self.calling.invoker.clone());
        Watched { store, invoker, scope: scope.clone(), lists, resources }
    }

    /// The capabilities of the agent: prompts and resources by its tools and families.
    fn capabilities(&self) -> ServerCapabilities {
        let all = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_logging();
        let all = all.enable_prompts().enable_prompts_list_changed();
        let all = all.enable_resources().enable_resources_list_changed().enable_resources_subscribe();
        let mut capabilities = all.enable_completions().enable_tasks().build();
        let has = |family, tools: Vec<_>| self.running.has_family(family) || !tools.is_empty();
        let has_prompts = has(LibraryFamily::Prompts, tool_forms::prompts(&self.catalogue));
        let has_resources = has(LibraryFamily::Artifacts, tool_forms::resources(&self.catalogue));
        capabilities.prompts = capabilities.prompts.filter(|_| has_prompts);
        capabilities.resources = capabilities.resources.filter(|_| has_resources);
        capabilities.completions = capabilities.completions.filter(|_| has_prompts || has_resources);
        capabilities
    }
}

/// The SDK moves the futures of methods several times, so that they are boxed: that of a call has many kilobytes.
impl ServerHandler for Gateway {
    fn get_info(&self) -> ServerConfig {
        let agent = &self.running.agent;
        let implementation = Implementation::new("lathe", env!("CARGO_PKG_VERSION")).with_title(agent.name.as_str());
        let config = ServerConfig::new(self.capabilities()).with_server_info(implementation);
        config.with_instructions(agent.description.as_str())
    }

    fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListToolsResult, ErrorData>> + Send {
        Box::pin(async move { page(&Scope::of(&context.extensions)?.catalogue, request) })
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
            let list = self.prompts::<ListPromptsRequestMethod>(Scope::of(&context.extensions)?)?;
            prompts::list(&list, request).await
        })
    }

    fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<GetPromptResponse, ErrorData>> + Send {
        Box::pin(self.answer_prompt(request, context))
    }

    fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListResourcesResult, ErrorData>> + Send {
        Box::pin(async move {
            let mut list = self.resources::<ListResourcesRequestMethod>(Scope::of(&context.extensions)?)?;
            list.tools.retain(|tool| !tool_resources::is_template(tool));
            resources::list(&list, request).await
        })
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut list = self.resources::<ListResourceTemplatesRequestMethod>(Scope::of(&context.extensions)?)?;
        list.tools.retain(|tool| tool_resources::is_template(tool));
        resources::templates(&list, request)
    }

    fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ReadResourceResponse, ErrorData>> + Send {
        Box::pin(self.answer_read(request, context))
    }

    fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(async move {
            let scope = Scope::of(&context.extensions)?;
            self.resources::<SubscribeRequestMethod>(scope)?;
            let visible = VisibleResources { store: &self.store, scope, catalogue: &scope.catalogue };
            self.watched_resources.add(request.uri, &visible).await
        })
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watched_resources.remove(&request.uri);
        Ok(())
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
        Exposed(&self.catalogue).headed(name)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The SDK removes what the agent does not have.
        let mut accepted = SubscriptionFilter::default();
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        accepted.resources_list_changed = requested.resources_list_changed;
        let resources = requested.resource_subscriptions.as_ref();
        accepted.resource_subscriptions = resources.map(|uris| uris.iter().take(WATCHED_MAX).cloned().collect());
        Some(accepted)
    }

    fn listen(&self, context: SubscriptionContext) -> impl Future<Output = Result<(), ErrorData>> + Send {
        Box::pin(self.announce_changes(context))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(scope) = Scope::of(&context.extensions) else { return };
        let lists = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().resources_list_changed();
        let lists = lists.build().supported_by(&self.capabilities());
        let watched = self.watched(scope, lists, self.watched_resources.clone());
        let peer = context.peer;
        tokio::spawn(async move {
            let Some(mut last) = watched.begin().await else { return };
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
