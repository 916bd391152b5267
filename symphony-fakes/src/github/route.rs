//! Which request is for what: the token, the repository, limits, and tags come before.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::{Value, json};
use symphony_core::Timestamp;

use super::json::Shown;
use super::world::{GithubWorld, Role, Token};
use super::{comments, forge, issues, labels, relations};
use crate::http::message::{Answer, Backend, Request};

/// Who asks, and what they may do.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) user: u64,
    pub(super) role: Option<Role>,
    pub(super) is_read_only: bool,
}

impl Backend for GithubWorld {
    const NAME: &'static str = "github";

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn answer(&mut self, request: &Request) -> Answer {
        if let Some(answer) = forge::route::log(self, request) {
            return answer;
        }
        self.look_at_branches();
        let token = request
            .token()
            .and_then(|token| self.tokens.get(token))
            .cloned();
        let Some(token) = token else {
            return refusal(401, "Bad credentials");
        };
        if self.quota == Some(0) {
            return self.with_limits(
                refusal(403, "API rate limit exceeded for user ID 1."),
                &token,
            );
        }
        let answer = tagged(request, self.routed(request, &token));
        if answer.status != 304 {
            self.requests += 1;
            self.quota = self.quota.map(|left| left.saturating_sub(1));
        }
        self.with_limits(answer, &token)
    }
}

/// Makes an error in GitHub's form.
pub(super) fn refusal(status: u16, message: &str) -> Answer {
    let body = json!({
        "message": message,
        "documentation_url": "https://docs.github.com/rest",
        "status": status.to_string(),
    });
    Answer::json(status, &body)
}

/// Makes the error for input that is refused.
pub(super) fn invalid(field: &str, message: &str) -> Answer {
    let body = json!({
        "message": "Validation Failed",
        "documentation_url": "https://docs.github.com/rest",
        "errors": [{ "resource": "Issue", "field": field, "code": "custom", "message": message }],
    });
    Answer::json(422, &body)
}

pub(super) fn not_found() -> Answer {
    refusal(404, "Not Found")
}

impl GithubWorld {
    fn with_limits(&self, answer: Answer, token: &Token) -> Answer {
        let left = self.quota.unwrap_or(4999);
        let answer = answer
            .with("x-ratelimit-limit", "5000")
            .with("x-ratelimit-remaining", left.to_string())
            .with(
                "x-ratelimit-used",
                (5000_u64.saturating_sub(left)).to_string(),
            )
            .with("x-ratelimit-reset", self.reset.to_string())
            .with("x-ratelimit-resource", "core")
            .with("x-github-media-type", "github.v3; format=json");
        match &token.scopes {
            Some(scopes) => answer
                .with("x-oauth-scopes", scopes.clone())
                .with("x-accepted-oauth-scopes", ""),
            None => answer,
        }
    }

    fn routed(&mut self, request: &Request, token: &Token) -> Answer {
        let segments: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        match segments.as_slice() {
            ["user"] if request.method == "GET" => {
                let shown = Shown::of(self, request);
                Answer::json(200, &shown.own_user(token.user))
            }
            ["repos", owner, name, rest @ ..] if self.is_old_name(owner, name) => {
                self.moved(request, rest)
            }
            ["repos", owner, name, rest @ ..] if self.is_repository(owner, name) => {
                self.in_repository(request, token, rest)
            }
            ["repositories", id, rest @ ..] if *id == self.repository.id.to_string() => {
                self.in_repository(request, token, rest)
            }
            ["repositories", id, "issues", number] if *id == self.elsewhere.id.to_string() => {
                let issue = number
                    .parse()
                    .ok()
                    .and_then(|number: u64| self.elsewhere.issues.get(&number));
                issue.map_or_else(not_found, |issue| {
                    Answer::json(200, &Shown::of(self, request).issue(issue, &self.elsewhere))
                })
            }
            _ => not_found(),
        }
    }

    pub(super) fn is_repository(&self, owner: &str, name: &str) -> bool {
        self.repository.owner.eq_ignore_ascii_case(owner)
            && self.repository.name.eq_ignore_ascii_case(name)
    }

    pub(super) fn is_old_name(&self, owner: &str, name: &str) -> bool {
        let is_old = |old: &String| old.eq_ignore_ascii_case(name);
        self.repository.owner.eq_ignore_ascii_case(owner)
            && self.repository.old_names.iter().any(is_old)
    }

    /// Leads a request to the repository's address by id, as GitHub does after a rename.
    fn moved(&self, request: &Request, rest: &[&str]) -> Answer {
        let mut target = format!(
            "{}/repositories/{}",
            request.own_address, self.repository.id
        );
        for segment in rest {
            target.push('/');
            target.extend(form_urlencoded::byte_serialize(segment.as_bytes()));
        }
        if let Some((_, query)) = request.target.split_once('?') {
            target = format!("{target}?{query}");
        }
        let status = if request.method == "GET" { 301 } else { 307 };
        let body = json!({ "message": "Moved Permanently", "url": target.clone(), "documentation_url": "https://docs.github.com/rest" });
        Answer::json(status, &body).with("location", target)
    }

    fn in_repository(&mut self, request: &Request, token: &Token, rest: &[&str]) -> Answer {
        let caller = Caller {
            user: token.user,
            role: self.repository.roles.get(&token.user).copied(),
            is_read_only: token.is_read_only,
        };
        if self.repository.is_private && caller.role.is_none() {
            return not_found();
        }
        let method = request.method.as_str();
        if rest.is_empty() && method == "GET" {
            let scopes = caller.role;
            return Answer::json(200, &Shown::of(self, request).repository(scopes));
        }
        if let Some(answer) = forge::route::routed(self, request, &caller, rest) {
            return answer;
        }
        if !self.repository.has_issues {
            return refusal(410, "Issues has been disabled in this repository.");
        }
        if method != "GET"
            && let Some(answer) = self.write_refusal(&caller, "issues=write")
        {
            return answer;
        }
        match (method, rest) {
            ("GET", ["issues"]) => issues::list(self, request),
            ("POST", ["issues"]) => issues::create(self, request, &caller),
            ("GET", ["issues", "comments"]) => comments::list_all(self, request),
            ("PATCH", ["issues", "comments", id]) => comments::edit(self, request, id),
            (_, ["issues", number, rest @ ..]) => self.on_issue(request, &caller, number, rest),
            _ => not_found(),
        }
    }

    pub(super) fn write_refusal(&self, caller: &Caller, permission: &str) -> Option<Answer> {
        if caller.is_read_only {
            let answer = refusal(403, "Resource not accessible by personal access token");
            return Some(answer.with("x-accepted-github-permissions", permission));
        }
        let is_archived = self.repository.is_archived;
        is_archived.then(|| refusal(403, "Repository was archived so is read-only."))
    }

    fn on_issue(
        &mut self,
        request: &Request,
        caller: &Caller,
        number: &str,
        rest: &[&str],
    ) -> Answer {
        let Some(number) = number
            .parse()
            .ok()
            .filter(|number| self.repository.issues.contains_key(number))
        else {
            return not_found();
        };
        if let Some((repository, there)) = self.issue(number).transferred {
            let target = format!(
                "{}/repositories/{repository}/issues/{there}",
                request.own_address
            );
            let body = json!({ "message": "Moved Permanently", "url": target.clone(), "documentation_url": "https://docs.github.com/rest" });
            return Answer::json(301, &body).with("location", target);
        }
        let (sub_issues, dependencies) = (
            self.repository.has_sub_issues,
            self.repository.has_dependencies,
        );
        match (request.method.as_str(), rest) {
            ("GET", []) => issues::show(self, request, number),
            ("PATCH", []) => issues::edit(self, request, caller, number),
            ("GET", ["comments"]) => comments::list(self, request, number),
            ("POST", ["comments"]) => comments::create(self, request, caller, number),
            ("GET", ["labels"]) => labels::list(self, request, number),
            ("POST", ["labels"]) => labels::add(self, request, caller, number),
            ("DELETE", ["labels"]) => labels::clear(self, caller, number),
            ("DELETE", ["labels", name]) => labels::remove(self, request, caller, number, name),
            ("GET", ["sub_issues"]) if sub_issues => relations::parts(self, request, number),
            ("POST", ["sub_issues"]) if sub_issues => {
                relations::add_part(self, request, caller, number)
            }
            ("GET", ["dependencies", "blocked_by"]) if dependencies => {
                relations::blockers(self, request, number)
            }
            ("POST", ["dependencies", "blocked_by"]) if dependencies => {
                relations::add_blocker(self, request, caller, number)
            }
            _ => not_found(),
        }
    }
}

/// Adds a tag to what was read, and answers 304 to those who have it.
fn tagged(request: &Request, answer: Answer) -> Answer {
    if request.method != "GET" || answer.status != 200 {
        return answer;
    }
    let mut hasher = DefaultHasher::new();
    answer.body.hash(&mut hasher);
    let tag = format!("W/\"{:016x}\"", hasher.finish());
    if request.header("if-none-match") == Some(&tag) {
        return Answer::empty(304).with("etag", tag);
    }
    answer.with("etag", tag)
}

/// Reads a field that is a text.
pub(super) fn text<'a>(input: &'a Value, name: &str) -> Option<&'a str> {
    input.get(name).and_then(Value::as_str)
}
