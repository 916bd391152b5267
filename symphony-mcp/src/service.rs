//! The service: what a session may see and call, and how a call is answered.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as McpTool,
};
use rmcp::service::{RequestContext, RoleServer, ServerInitializeError};
use rmcp::transport::stdio_pipes;
use rmcp::{ErrorData, ServerHandler, ServiceExt};
use symphony_core::tools::Tool;
use symphony_core::wording::with_article;
use symphony_store::Store;
use symphony_workspace::Redactor;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::answer::{Answer, ToolError};
use crate::error::McpError;
use crate::identity::Identity;
use crate::redaction::without_secrets;
use crate::store_thread::StoreThread;
use crate::tool;

/// Answers for one identity. Clones are cheap: each connection gets one.
#[derive(Debug, Clone)]
pub struct Service {
    identity: Arc<Identity>,
    store: StoreThread,
    listed: Arc<Vec<McpTool>>,
    redactor: Option<Arc<Redactor>>,
    was_asked: Arc<AtomicBool>,
}

impl Service {
    /// Makes the service of an identity.
    pub fn new(identity: Identity, store: StoreThread) -> Self {
        let listed = Arc::new(tool::list(identity.callable(), identity.role));
        Self {
            identity: Arc::new(identity),
            store,
            listed,
            redactor: None,
            was_asked: Arc::default(),
        }
    }

    /// Removes secret values from everything that is sent to it; learnings and comments that hold one are refused.
    #[must_use]
    pub fn with_redactor(mut self, redactor: Option<Arc<Redactor>>) -> Self {
        self.redactor = redactor;
        self
    }

    /// Returns whether anyone has asked this service, or a clone of it, for its tools, or called one.
    pub fn was_asked(&self) -> bool {
        self.was_asked.load(Ordering::Relaxed)
    }

    async fn call(&self, request: CallToolRequestParams) -> CallToolResult {
        self.was_asked.store(true, Ordering::Relaxed);
        let tool = match Tool::parse(&request.name) {
            Ok(tool) if self.identity.callable().contains(tool) => tool,
            _ => return self.refuse(&request.name).into_result(),
        };
        let identity = Arc::clone(&self.identity);
        let mut arguments = request.arguments.unwrap_or_default();
        if let Some(redactor) = &self.redactor {
            arguments = match without_secrets(redactor, tool, arguments) {
                Ok(arguments) => arguments,
                Err(refused) => return refused.into_result(),
            };
        }
        self.answer(tool, move |store| {
            tool::call(store, &identity, tool, arguments)
        })
        .await
    }

    /// Runs a call on the database thread. A panic would end that thread and leave the request without an answer: it is
    /// turned into an answer, and what it had begun to write is rolled back.
    async fn answer(
        &self,
        tool: Tool,
        work: impl FnOnce(&mut Store) -> Result<Answer, ToolError> + Send + 'static,
    ) -> CallToolResult {
        let guarded = move |store: &mut Store| {
            std::panic::catch_unwind(AssertUnwindSafe(|| work(store))).unwrap_or_else(|_panic| {
                Err(ToolError::new(format!(
                    "`{}` failed inside Symphony: this is a bug",
                    tool.name()
                )))
            })
        };
        match self.store.call(guarded).await {
            Ok(Ok(answer)) => answer.into_result(),
            Ok(Err(error)) => error.into_result(),
            Err(gone) => ToolError::new(gone.to_string()).into_result(),
        }
    }

    fn refuse(&self, name: &str) -> ToolError {
        ToolError::new(format!(
            "{} has no tool `{name}`; it has: {}",
            with_article(self.identity.role.name()),
            self.identity.callable()
        ))
    }
}

impl ServerHandler for Service {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("symphony", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(
            "Symphony's tools for this run: read the issue, record findings and learnings, report the outcome. Only what you \
             report here counts."
                .to_owned(),
        );
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.was_asked.store(true, Ordering::Relaxed);
        // The list depends on the role: a cache must not serve it to anyone else.
        Ok(
            ListToolsResult::with_all_items(self.listed.as_ref().clone())
                .with_cache_scope(CacheScope::Private),
        )
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.call(request).await.into())
    }
}

/// Serves one session until its client goes away.
///
/// # Errors
/// When the session cannot be set up. A client that disconnects before it sends anything is no error.
pub async fn serve<R, W>(service: Service, read: R, write: W) -> Result<(), McpError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    match service.serve((read, write)).await {
        Ok(session) => {
            session
                .waiting()
                .await
                .map_err(|error| McpError::Session(error.to_string()))?;
            Ok(())
        }
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(McpError::Session(error.to_string())),
    }
}

/// Serves one session on standard input and output, until input ends.
///
/// # Errors
/// As [`serve`].
pub async fn serve_stdio(service: Service) -> Result<(), McpError> {
    // Pipes are polled with everything else. Other streams need threads, but that is no reason to start them for all.
    let (input, output) = stdio_pipes();
    serve(service, input, output).await
}

#[cfg(test)]
mod tests {
    use symphony_core::id::ProjectId;
    use symphony_core::tools::{Role, ToolSet};
    use symphony_store::Actor;

    use super::*;
    use crate::before_hand_in::BeforeHandIn;
    use crate::identity::{ProjectPhases, Verdicts};

    #[tokio::test]
    async fn a_panic_in_a_tool_is_answered_and_the_next_call_works() {
        let identity = Identity {
            actor: Actor::Human(symphony_store::Person::default()),
            role: Role::Human,
            tools: ToolSet::ALL,
            project: ProjectId::parse("demo").unwrap(),
            issue: None,
            review: None,
            workspace: None,
            phases: ProjectPhases::default(),
            directory: None,
            verdicts: Verdicts::ByRole,
            before_hand_in: BeforeHandIn::default(),
        };
        let store = StoreThread::new(Store::open_in_memory().unwrap());
        let service = Service::new(identity, store);
        let result = service
            .answer(Tool::AddComment, |_store| panic!("planted"))
            .await;
        assert_eq!(result.is_error, Some(true));
        let told =
            serde_json::json!({ "error": "`add_comment` failed inside Symphony: this is a bug" });
        assert_eq!(result.structured_content, Some(told));
        let result = service
            .call(CallToolRequestParams::new("list_issues"))
            .await;
        assert_eq!(result.is_error, Some(false), "{result:?}");
    }
}
