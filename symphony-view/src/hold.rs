//! Conditions that stop dispatch.

use serde::Serialize;
use symphony_core::Timestamp;
use symphony_core::failure::ErrorClass;
use symphony_core::hold::lone_item;
use symphony_core::tick::{Hold, HoldScope, NEXT_TRY, Reason};
use symphony_runner::provider::login_command;

use crate::text::Clock;

/// A condition that stops dispatch.
#[derive(Debug, Clone, Serialize)]
pub struct HoldView {
    /// `provider`, `model`, `project`, `gates` or `everything`.
    pub scope: &'static str,
    /// The provider or the project.
    pub name: Option<String>,
    /// The model that is asked for, where only that is on hold; none for the provider's default.
    pub model: Option<String>,
    /// The class of error that led to the hold.
    pub class: ErrorClass,
    /// What happened, in words.
    pub reason: String,
    /// When it ends; none when a person has to end it.
    pub until: Option<Timestamp>,
    /// Probes that failed in a row.
    pub probes: u32,
    /// The command that logs the provider's program in, where its account is what is wrong.
    pub login: Option<&'static str>,
    /// What fails every probe while nothing else can be compared with it.
    pub lone: Option<String>,
    /// What is on hold, and why, in words.
    #[serde(skip)]
    pub what: String,
}

impl From<&Hold> for HoldView {
    fn from(hold: &Hold) -> Self {
        let (scope, name, model) = match &hold.scope {
            HoldScope::Provider(name) => ("provider", Some(name.clone()), None),
            HoldScope::Model { provider, model } => {
                ("model", Some(provider.clone()), model.clone())
            }
            HoldScope::Project(id) => ("project", Some(id.to_string()), None),
            HoldScope::Gates(id) => ("gates", Some(id.to_string()), None),
            HoldScope::Everything => ("everything", None, None),
        };
        let provider = hold.scope.provider();
        let provider = provider.filter(|_| hold.class.is_of_account());
        Self {
            scope,
            name,
            model,
            class: hold.class,
            reason: hold.reason.clone(),
            until: Some(hold.until).filter(|until| *until != Timestamp::MAX),
            probes: hold.probes,
            login: provider.and_then(login_command),
            lone: lone_item(hold).map(|trial| trial.item.to_string()),
            what: Reason::held(hold).to_string(),
        }
    }
}

impl HoldView {
    /// Returns the hold as a line, in the form that its reason has everywhere.
    pub fn text(&self, clock: &Clock) -> String {
        let until = self.until.map_or_else(
            || "only a person can end this hold".to_owned(),
            |until| format!("{NEXT_TRY} {}", clock.until(until)),
        );
        format!("{}; {until}", self.what)
    }
}
