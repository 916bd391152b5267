//! The page of a request that has no other.

use maud::{Markup, html};

use super::layout::bare;
use crate::access::Refusal;
use crate::door;
use crate::server::{Failure, Turn};

/// Says what went wrong; whoever is not signed in gets the way in, and nothing else.
pub(crate) fn problem(failure: &Failure, turn: Option<&Turn>) -> Markup {
    match failure {
        Failure::Refused(Refusal::NotSignedIn) => return door::form(None),
        Failure::Refused(Refusal::UnknownSecret) => {
            return door::form(Some("Your session has ended."));
        }
        Failure::TooManyAttempts => {
            return door::form(Some(
                "Too many wrong tokens were sent to this server. Try again in a moment.",
            ));
        }
        _ => {}
    }
    let heading = match failure {
        Failure::Refused(Refusal::OtherName) => "Not this address",
        Failure::Refused(_) => "Not allowed",
        Failure::NotFound(_) | Failure::UnknownIssue(_) => "Not found",
        Failure::Wrong(_)
        | Failure::Malformed
        | Failure::TooLarge { .. }
        | Failure::TooSlow
        | Failure::TooManyAttempts => "Not accepted",
        Failure::Conflict(_) => "Not possible now",
        Failure::Unusable(_) | Failure::Internal(_) => "Something is wrong",
    };
    bare(
        heading,
        &html! {
            h1 { (heading) }
            p .notice .bad role="alert" { (failure) }
            @if turn.is_some() { p { a href="/" { "Go to the board" } " · " a href="/health" { "Health" } } }
        },
    )
}
