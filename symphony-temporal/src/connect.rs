//! One connection to a service, and a time limit for each call.

use std::error::Error;
use std::future::Future;
use std::path::Path;
use std::time::Duration;

use symphony_core::config::TemporalSettings;
use temporalio_client::errors::ClientConnectError;
use temporalio_client::grpc::WorkflowService;
use temporalio_client::{
    ClientTlsOptions, Connection, ConnectionOptions, RetryOptions, TlsOptions,
};
use temporalio_common::protos::temporal::api::workflowservice::v1::DescribeNamespaceRequest;
use tonic::{Code, IntoRequest, Response, Status};
use url::Url;

use crate::error::TemporalError;
use crate::form::Form;

/// Time limit of a connection and of a call that is answered at once.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);
/// How long the service may hold a question for a run or a task, and a little more: it answers after a minute that there is none.
pub(crate) const POLL_LIMIT: Duration = Duration::from_secs(70);

/// A connection to one service.
#[derive(Debug)]
pub(crate) struct Line {
    connection: Connection,
    address: String,
    pub(crate) namespace: String,
    pub(crate) identity: String,
}

impl Line {
    /// Connects, as whoever has this name in the service's own pages.
    pub(crate) async fn connect(
        settings: &TemporalSettings,
        identity: &str,
    ) -> Result<Self, TemporalError> {
        let address = settings.address.as_str().to_owned();
        let url = Url::parse(&address).map_err(|error| TemporalError::Unreachable {
            address: address.clone(),
            text: error.to_string(),
        })?;
        let tls = if settings.address.is_encrypted() {
            Some(tls_of(settings)?)
        } else {
            None
        };
        let api_key = match &settings.api_key {
            Some(path) => Some(text_of(path)?.trim().to_owned()),
            None => None,
        };
        let options = ConnectionOptions::new(url)
            .identity(identity.to_owned())
            .maybe_tls_options(tls)
            .maybe_api_key(api_key)
            .connect_timeout(LIMIT)
            // Each call here is made again by the next tick or round.
            .retry_options(RetryOptions::no_retries())
            .dns_load_balancing(None)
            .build();
        let connected = tokio::time::timeout(LIMIT, Connection::connect(options)).await;
        let connection = match connected {
            Ok(Ok(connection)) => connection,
            Ok(Err(error)) => {
                return Err(TemporalError::Unreachable {
                    address,
                    text: match &error {
                        ClientConnectError::SystemInfoCallError(status) => words_of(status),
                        error => root_cause(error),
                    },
                });
            }
            Err(_elapsed) => {
                return Err(TemporalError::Silent {
                    address,
                    limit: LIMIT,
                });
            }
        };
        Ok(Self {
            connection,
            address,
            namespace: settings.namespace.clone(),
            identity: identity.to_owned(),
        })
    }

    pub(crate) fn service(&self) -> Box<dyn WorkflowService> {
        self.connection.workflow_service()
    }

    /// Waits for the answer to a call, and says what a status means that is none of those the caller knows.
    pub(crate) async fn answer<T>(
        &self,
        call: &'static str,
        limit: Duration,
        answer: impl Future<Output = Result<Response<T>, Status>>,
        known: &[Code],
    ) -> Result<Result<T, Code>, TemporalError> {
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(response)) => Ok(Ok(response.into_inner())),
            Ok(Err(status)) if known.contains(&status.code()) => Ok(Err(status.code())),
            Ok(Err(status)) => Err(self.meaning(call, &status)),
            Err(_elapsed) => Err(TemporalError::Silent {
                address: self.address.clone(),
                limit,
            }),
        }
    }

    /// Checks that the namespace is there, and returns what a run is in it. Standalone activities can be switched off for one, and older
    /// services have none.
    pub(crate) async fn form(&self) -> Result<Form, TemporalError> {
        let request = DescribeNamespaceRequest {
            namespace: self.namespace.clone(),
            ..DescribeNamespaceRequest::default()
        };
        let mut service = self.service();
        let answer = service.describe_namespace(request.into_request());
        let known = [Code::NotFound];
        let answer = self.answer("describe a namespace", LIMIT, answer, &known);
        let Ok(described) = answer.await? else {
            return Err(self.no_namespace());
        };
        let capable = described.namespace_info.and_then(|info| info.capabilities);
        Ok(
            if capable.is_some_and(|capable| capable.standalone_activities) {
                Form::Activity
            } else {
                Form::Workflow
            },
        )
    }

    pub(crate) fn no_namespace(&self) -> TemporalError {
        TemporalError::NoNamespace {
            address: self.address.clone(),
            namespace: self.namespace.clone(),
        }
    }

    fn meaning(&self, call: &'static str, status: &Status) -> TemporalError {
        let address = self.address.clone();
        match status.code() {
            Code::Unavailable | Code::Cancelled | Code::DeadlineExceeded | Code::Unknown => {
                let text = words_of(status);
                TemporalError::Unreachable { address, text }
            }
            _ => TemporalError::Refused {
                address,
                call,
                text: status.message().to_owned(),
            },
        }
    }
}

/// Returns what a call failed by: the connection's own words, or else the service's.
fn words_of(status: &Status) -> String {
    let message = || status.message().to_owned();
    status.source().map_or_else(message, root_cause)
}

/// Returns the words of the first cause: those of the layers above it repeat it, in the form of a debugger.
fn root_cause<'e>(error: &'e (dyn Error + 'static)) -> String {
    let mut cause: &'e (dyn Error + 'static) = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn tls_of(settings: &TemporalSettings) -> Result<TlsOptions, TemporalError> {
    let mut tls = TlsOptions::default();
    if let Some(path) = &settings.authority {
        tls.server_root_ca_cert = Some(text_of(path)?.into_bytes());
    }
    if let Some((certificate, key)) = &settings.certificate {
        let (certificate, key) = (text_of(certificate)?, text_of(key)?);
        let client = ClientTlsOptions::builder()
            .client_cert(certificate.into_bytes())
            .client_private_key(key.into_bytes())
            .build();
        tls.client_tls_options = Some(client);
    }
    Ok(tls)
}

fn text_of(path: &Path) -> Result<String, TemporalError> {
    std::fs::read_to_string(path).map_err(|source| TemporalError::Credentials {
        path: path.to_owned(),
        source,
    })
}
