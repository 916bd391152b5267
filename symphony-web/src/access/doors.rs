//! The sign-in links and sessions that are known: what the session file holds.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use symphony_core::Timestamp;

use super::secret::{Secret, SecretHash};
use super::user::SignedIn;

/// How long a sign-in link can be used, in milliseconds.
const LINK_MS: i64 = 10 * 60 * 1000;

/// How long a session lasts, in milliseconds.
const SESSION_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Sessions that are kept; the oldest makes room.
const SESSIONS_MAX: usize = 500;

/// Sessions of one user that are kept; the oldest makes room.
const SESSIONS_OF_ONE_MAX: usize = 20;

/// Sign-in links that are kept; the oldest makes room.
const LINKS_MAX: usize = 50;

/// A link that signs one browser in, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInLink {
    hash: SecretHash,
    expires_at: Timestamp,
}

/// A browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    hash: SecretHash,
    /// The configured user; none for whoever started the server, who may do all.
    pub user: Option<SignedIn>,
    expires_at: Timestamp,
}

/// All links and sessions. Only hashes are kept: who reads the file cannot sign in with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doors {
    #[serde(default)]
    links: Vec<SignInLink>,
    #[serde(default)]
    sessions: Vec<Session>,
    /// What makes the name that pages are served under this installation's own: pages of other servers cannot guess it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where the page was served last, to print further links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Where the server listened last; none for a socket file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listens: Option<SocketAddr>,
}

impl Doors {
    /// Adds a sign-in link.
    pub fn add_link(&mut self, secret: &Secret, now: Timestamp) {
        self.forget_expired(now);
        make_room(&mut self.links, LINKS_MAX);
        self.links.push(SignInLink {
            hash: secret.hash(),
            expires_at: later(now, LINK_MS),
        });
    }

    /// Uses a sign-in link up; returns whether it was good.
    pub fn redeem(&mut self, link: &Secret, now: Timestamp) -> bool {
        self.forget_expired(now);
        let hash = link.hash();
        let found = self.links.iter().position(|link| link.hash == hash);
        found.is_some_and(|at| {
            self.links.remove(at);
            true
        })
    }

    /// Begins a session.
    pub fn begin(&mut self, secret: &Secret, user: Option<SignedIn>, now: Timestamp) {
        self.forget_expired(now);
        // whoever signs in again and again signs out only themselves
        let is_same = |session: &Session| session.user == user;
        let mut over = (self
            .sessions
            .iter()
            .filter(|session| is_same(session))
            .count()
            + 1)
        .saturating_sub(SESSIONS_OF_ONE_MAX);
        self.sessions.retain(|session| {
            let is_dropped = over > 0 && is_same(session);
            over -= usize::from(is_dropped);
            !is_dropped
        });
        make_room(&mut self.sessions, SESSIONS_MAX);
        self.sessions.push(Session {
            hash: secret.hash(),
            user,
            expires_at: later(now, SESSION_MS),
        });
    }

    /// Finds the session of a secret.
    pub fn session(&self, secret: &Secret, now: Timestamp) -> Option<&Session> {
        let hash = secret.hash();
        let mut live = self
            .sessions
            .iter()
            .filter(|session| session.expires_at > now);
        live.find(|session| session.hash == hash)
    }

    /// Ends the session of a secret.
    pub fn end(&mut self, secret: &Secret) {
        let hash = secret.hash();
        self.sessions.retain(|session| session.hash != hash);
    }

    fn forget_expired(&mut self, now: Timestamp) {
        self.links.retain(|link| link.expires_at > now);
        self.sessions.retain(|session| session.expires_at > now);
    }
}

fn make_room<T>(kept: &mut Vec<T>, max: usize) {
    let over = (kept.len() + 1).saturating_sub(max);
    kept.drain(..over);
}

fn later(now: Timestamp, ms: i64) -> Timestamp {
    Timestamp::from_millisecond(now.as_millisecond().saturating_add(ms)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::User;
    use symphony_core::user::{UserName, UserRole};

    fn secret(byte: u8) -> Secret {
        Secret::of_bytes([byte; 32])
    }

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
    }

    #[test]
    fn a_link_signs_in_once_and_for_ten_minutes() {
        let mut doors = Doors::default();
        doors.add_link(&secret(1), at(0));
        doors.add_link(&secret(2), at(0));
        assert!(!doors.redeem(&secret(3), at(1)));
        assert!(doors.redeem(&secret(1), at(1)));
        assert!(!doors.redeem(&secret(1), at(1)), "a replayed link");
        assert!(!doors.redeem(&secret(2), at(LINK_MS)), "an old link");
    }

    #[test]
    fn a_session_lasts_until_it_ends_or_expires() {
        let mut doors = Doors::default();
        doors.begin(&secret(1), None, at(0));
        let ada = User {
            name: UserName::parse("ada").unwrap(),
            role: UserRole::Viewer,
            token: secret(9).hash(),
        };
        doors.begin(&secret(2), Some((&ada).into()), at(0));
        assert!(doors.session(&secret(1), at(1)).is_some());
        assert_eq!(
            doors.session(&secret(2), at(1)).unwrap().user,
            Some((&ada).into())
        );
        assert!(doors.session(&secret(3), at(1)).is_none());
        assert!(doors.session(&secret(1), at(SESSION_MS)).is_none());
        doors.end(&secret(1));
        assert!(doors.session(&secret(1), at(1)).is_none());
        let kept = serde_json::to_string(&doors).unwrap();
        assert!(!kept.contains(secret(2).reveal()));
        assert_eq!(serde_json::from_str::<Doors>(&kept).unwrap(), doors);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut doors = Doors::default();
        for number in 0..=255 {
            doors.add_link(&secret(number), at(0));
            doors.begin(&secret(number), None, at(0));
            doors.begin(&secret(number), None, at(0));
            doors.begin(&secret(number), None, at(0));
        }
        assert_eq!(doors.links.len(), LINKS_MAX);
        assert_eq!(doors.sessions.len(), SESSIONS_OF_ONE_MAX);
        assert!(doors.session(&secret(255), at(1)).is_some());
    }
}
