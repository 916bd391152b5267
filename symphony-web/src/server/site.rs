//! What all requests share.

use std::sync::{Arc, Mutex, PoisonError};

use symphony_core::Timestamp;
use symphony_runner::session::Session;
use symphony_store::Context;
use tokio::sync::watch;

use super::checkups::Checkups;
use super::doors_file::DoorsFile;
use super::failure::Failure;
use super::options::{Access, Doctor, Opener, Refreshed, Refresher};
use crate::access::{FailureLimiter, Refusal, Role, Scheme, Secret, User, Visitor, Way};
use crate::live::Pulse;

/// What a server knows.
#[derive(Debug)]
pub struct Site {
    pub(crate) access: Access,
    pub(crate) doors: DoorsFile,
    opener: Opener,
    refresher: Refresher,
    pub(crate) checkups: Checkups,
    pub(crate) pulse: Arc<Pulse>,
    wrong: Mutex<FailureLimiter>,
    ending: watch::Sender<bool>,
    /// Sentences for pages of visitors.
    messages: Mutex<Vec<Message>>,
}

/// A sentence for a page.
#[derive(Debug)]
struct Message {
    /// The session of the visitor, as the token of its forms.
    of: Secret,
    /// The page that shows it: another one that is loaded meanwhile must not take it.
    page: String,
    said: String,
}

/// Sentences that wait for a page; the oldest makes room.
const MESSAGES_MAX: usize = 200;

impl Site {
    /// Makes it.
    pub fn new(
        access: Access,
        doors: DoorsFile,
        opener: Opener,
        refresher: Refresher,
        doctor: Doctor,
    ) -> Arc<Self> {
        Arc::new(Self {
            access,
            doors,
            pulse: Pulse::new(opener.clone()),
            opener,
            refresher,
            checkups: Checkups::new(doctor),
            wrong: Mutex::new(FailureLimiter::new(Timestamp::now())),
            ending: watch::channel(false).0,
            messages: Mutex::new(Vec::new()),
        })
    }

    /// Returns the name of the cookie of sessions. Browsers keep no other host's or subdomain's cookie under a name with `__Host-`.
    pub(crate) const fn cookie(&self) -> &'static str {
        match self.access.hosts.scheme() {
            Scheme::Http => "symphony",
            Scheme::Https => "__Host-symphony",
        }
    }

    /// Opens the installation.
    pub(crate) fn open(&self) -> Result<Session, Failure> {
        self.opener.open().map_err(Failure::Unusable)
    }

    /// Asks for a tick now.
    pub(crate) fn refresh(&self) -> Refreshed {
        self.refresher.refresh()
    }

    /// Reads the configured users. What is wrong with the configuration is logged: it is nobody's business who is not let in.
    pub(crate) fn users(&self) -> Result<Vec<User>, Failure> {
        self.access.users.read().map_err(|error| {
            tracing::error!(%error, "the users cannot be read");
            Failure::Unusable(
                "the users of this page cannot be read from the configuration".to_owned(),
            )
        })
    }

    /// Counts a wrong secret; returns whether it is answered as such.
    pub(crate) fn answers_wrong_secret(&self) -> bool {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        wrong.admit(Timestamp::now())
    }

    /// Keeps a sentence for a page of a visitor.
    pub(crate) fn leave_message(&self, visitor: &Visitor, page: &str, said: String) {
        if let Way::Browser { form_token } = &visitor.way {
            let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
            let over = (messages.len() + 1).saturating_sub(MESSAGES_MAX);
            messages.drain(..over);
            messages.push(Message {
                of: form_token.clone(),
                page: page.split(['?', '#']).next().unwrap_or_default().to_owned(),
                said,
            });
        }
    }

    /// Takes the sentence for a page of a visitor.
    pub(crate) fn take_message(&self, visitor: &Visitor, page: &str) -> Option<String> {
        let Way::Browser { form_token } = &visitor.way else {
            return None;
        };
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let is_for = |message: &Message| message.of == *form_token && message.page == page;
        let at = messages.iter().position(is_for)?;
        Some(messages.remove(at).said)
    }

    /// Returns what tells streams that the server ends.
    pub(crate) fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    pub(crate) fn end(&self) {
        self.ending.send_replace(true);
    }
}

/// One request of a visitor: what it reads and writes with.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) site: Arc<Site>,
    pub(crate) visitor: Visitor,
    /// The address that was asked for, without its query.
    pub(crate) page: String,
    /// Whether the page asks by itself, because something has happened: a person may be on the way to another page.
    pub(crate) is_refresh: bool,
    pub(crate) now: Timestamp,
}

impl Turn {
    /// The context of a write by the visitor.
    pub(crate) fn context(&self) -> Context {
        symphony_runner::person::as_visitor(self.visitor.user.as_ref(), self.now)
    }

    /// Returns whether the visitor may do what needs this role, so that a page offers it.
    pub(crate) fn may(&self, role: Role) -> bool {
        self.visitor.role.may(role) && !self.site.access.is_read_only
    }

    /// Refuses a page that is only a form, to a visitor whose form would be refused.
    ///
    /// # Errors
    /// When the visitor may not do what needs this role.
    pub(crate) fn check(&self, needed: Role) -> Result<(), Refusal> {
        let has = self.visitor.role;
        if !has.may(needed) {
            Err(Refusal::Role { needed, has })
        } else if self.site.access.is_read_only {
            Err(Refusal::ReadOnly)
        } else {
            Ok(())
        }
    }

    /// Returns the token that forms carry.
    pub(crate) fn form_token(&self) -> &str {
        match &self.visitor.way {
            Way::Browser { form_token } => form_token.reveal(),
            Way::Client => "",
        }
    }
}
