//! Whether a request is let in, and as whom.

use super::doors::Doors;
use super::host::{Hosts, Named};
use super::origin::{FetchSite, is_own_origin};
use super::secret::Secret;
use super::user::{User, user_of};
use symphony_core::Timestamp;
use symphony_core::user::{UserName, UserRole as Role};

/// What a route asks of its visitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrance {
    /// Open to everybody who reaches the server: what pages look like.
    Open,
    /// The sign-in page: open under the names that browsers sign in under.
    SignIn,
    /// Reads, for this role.
    Read(Role),
    /// Changes something, for this role.
    Write(Role),
}

/// What a request says of itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts<'a> {
    /// The `Host` header; none where it is missing, or sent more than once.
    pub host: Option<&'a str>,
    /// The host in the request line, where there is one.
    pub authority: Option<&'a str>,
    /// The `Origin` header.
    pub origin: Option<&'a str>,
    /// The `Sec-Fetch-Site` header.
    pub site: Option<FetchSite>,
    /// What it proves who it is with.
    pub credentials: Credentials<'a>,
}

/// What a request proves with who it is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Credentials<'a> {
    /// The secret of its session, from its cookie.
    pub session: Option<&'a Secret>,
    /// The token of a user, from `Authorization: Bearer`.
    pub bearer: Option<&'a Secret>,
    /// Whether it brought something that cannot be a secret.
    pub is_malformed: bool,
}

/// Whom the server knows.
#[derive(Debug, Clone)]
pub struct Admission<'a> {
    /// The names that it is known by.
    pub hosts: &'a Hosts,
    /// The sessions.
    pub doors: &'a Doors,
    /// The configured users.
    pub users: &'a [User],
    /// Whether nobody may change anything here.
    pub is_read_only: bool,
}

/// Who has come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The configured user; none for whoever started the server.
    pub user: Option<UserName>,
    /// What the visitor may do.
    pub role: Role,
    /// How the visitor came in.
    pub way: Way,
}

/// How a visitor came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// In a browser; forms must carry this token.
    Browser {
        /// The token.
        form_token: Secret,
    },
    /// With a token of an API client: no browser adds it by itself.
    Client,
}

/// Why a request is turned away.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It asks for another host (421).
    #[error("the request is for a host name that this server does not have")]
    OtherHost,
    /// It brings nothing, or nothing that is good any more (401).
    #[error("you are not signed in")]
    NotSignedIn,
    /// Browsers sign in under another name of this server (401).
    #[error("browsers sign in under this server's own name: `symphony serve url` prints a link")]
    OtherName,
    /// It brings a secret that is wrong (401, counted).
    #[error("the token or the session is not known, or has expired")]
    UnknownSecret,
    /// It comes from a page of another site (403).
    #[error("the request does not come from a page of this server")]
    ForeignPage,
    /// It lacks the token of the forms (403).
    #[error("the form is from another session: load the page again")]
    NoFormToken,
    /// The role does not allow it (403).
    #[error("this needs the role {needed}, and yours is {has}")]
    Role {
        /// What it needs.
        needed: Role,
        /// What the visitor has.
        has: Role,
    },
    /// The server was started to be looked at only (403).
    #[error("this server was started with --read-only")]
    ReadOnly,
}

/// Decides whether a request is let in. The form's token is checked when the form has been read ([`Visitor::check_form`]).
///
/// # Errors
/// Why it is turned away.
pub fn admit(
    known: &Admission<'_>,
    entrance: Entrance,
    facts: &Facts<'_>,
    now: Timestamp,
) -> Result<Option<Visitor>, Refusal> {
    let host = facts.host.filter(|host| {
        let mut authority = facts.authority.iter();
        authority.all(|named| named.eq_ignore_ascii_case(host))
    });
    let (host, named) = host
        .and_then(|host| Some((host, known.hosts.find(host)?)))
        .ok_or(Refusal::OtherHost)?;
    let (needed, writes) = match entrance {
        Entrance::Open => return Ok(None),
        Entrance::SignIn if named == Named::Page => return Ok(None),
        Entrance::SignIn => return Err(Refusal::OtherName),
        Entrance::Read(role) => (role, false),
        Entrance::Write(role) => (role, true),
    };
    if named == Named::Machine && facts.credentials.bearer.is_none() {
        return Err(Refusal::OtherName);
    }
    let visitor = identify(known, &facts.credentials, now)?;
    let is_own = |origin| is_own_origin(origin, known.hosts.scheme(), host);
    let is_foreign = match visitor.way {
        Way::Client => facts.origin.is_some_and(|origin| !is_own(origin)),
        Way::Browser { .. } if writes => {
            !facts.origin.is_some_and(is_own)
                || facts.site.is_some_and(|site| site != FetchSite::SameOrigin)
        }
        Way::Browser { .. } => facts.origin.is_some_and(|origin| !is_own(origin)),
    };
    if is_foreign {
        return Err(Refusal::ForeignPage);
    }
    if !visitor.role.may(needed) {
        return Err(Refusal::Role {
            needed,
            has: visitor.role,
        });
    }
    // who may only look may still sign out
    if writes && known.is_read_only && needed > Role::Viewer {
        return Err(Refusal::ReadOnly);
    }
    Ok(Some(visitor))
}

fn identify(
    known: &Admission<'_>,
    credentials: &Credentials<'_>,
    now: Timestamp,
) -> Result<Visitor, Refusal> {
    if let Some(token) = credentials.bearer {
        let user = user_of(known.users, token).ok_or(Refusal::UnknownSecret)?;
        return Ok(Visitor {
            user: Some(user.name.clone()),
            role: user.role,
            way: Way::Client,
        });
    }
    let Some(secret) = credentials.session else {
        return Err(if credentials.is_malformed {
            Refusal::UnknownSecret
        } else {
            Refusal::NotSignedIn
        });
    };
    let session = known
        .doors
        .session(secret, now)
        .ok_or(Refusal::UnknownSecret)?;
    let (user, role) = match &session.user {
        None => (None, Role::Admin),
        // a user who was taken out of the configuration, or got another token, has no session any more
        Some(signed) => {
            let user = signed.find(known.users).ok_or(Refusal::UnknownSecret)?;
            (Some(user.name.clone()), user.role)
        }
    };
    Ok(Visitor {
        user,
        role,
        way: Way::Browser {
            form_token: secret.form_token(),
        },
    })
}

impl Visitor {
    /// Checks that a form is of the visitor's own session.
    ///
    /// # Errors
    /// When it is not.
    pub fn check_form(&self, sent: Option<&str>) -> Result<(), Refusal> {
        match &self.way {
            Way::Client => Ok(()),
            Way::Browser { form_token } => {
                let sent = sent.and_then(Secret::parse);
                let is_own = sent.is_some_and(|sent| sent.hash() == form_token.hash());
                is_own.then_some(()).ok_or(Refusal::NoFormToken)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Scheme;

    const HOST: &str = "symphony-k3f9a2xq.localhost:7667";
    const OWN: &str = "http://symphony-k3f9a2xq.localhost:7667";
    const MACHINE: &str = "localhost:7667";

    struct World {
        hosts: Hosts,
        doors: Doors,
        users: Vec<User>,
        is_read_only: bool,
    }

    fn secret(byte: u8) -> &'static Secret {
        Box::leak(Box::new(Secret::of_bytes([byte; 32])))
    }

    fn now() -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000).unwrap()
    }

    fn world() -> World {
        let mut doors = Doors::default();
        doors.begin(secret(1), None, now());
        let user = |name: &str, role, byte| User {
            name: UserName::parse(name).unwrap(),
            role,
            token: secret(byte).hash(),
        };
        let users = vec![user("ada", Role::Reviewer, 8), user("eve", Role::Viewer, 9)];
        let gone = user("gone", Role::Admin, 10);
        let ada_before = user("ada", Role::Reviewer, 11);
        for (byte, of) in [(2, &users[0]), (3, &gone), (4, &ada_before)] {
            doors.begin(secret(byte), Some(of.into()), now());
        }
        World {
            hosts: Hosts::new(Scheme::Http, Some(7667), &[HOST.to_owned()]),
            doors,
            users,
            is_read_only: false,
        }
    }

    fn ask(
        world: &World,
        entrance: Entrance,
        facts: &Facts<'_>,
    ) -> Result<Option<Visitor>, Refusal> {
        let known = Admission {
            hosts: &world.hosts,
            doors: &world.doors,
            users: &world.users,
            is_read_only: world.is_read_only,
        };
        admit(&known, entrance, facts, now())
    }

    fn browser(secret: &'static Secret) -> Facts<'static> {
        Facts {
            host: Some(HOST),
            origin: Some(OWN),
            site: Some(FetchSite::SameOrigin),
            credentials: Credentials {
                session: Some(secret),
                ..Credentials::default()
            },
            ..Facts::default()
        }
    }

    fn client(secret: &'static Secret) -> Facts<'static> {
        Facts {
            host: Some(HOST),
            credentials: Credentials {
                bearer: Some(secret),
                ..Credentials::default()
            },
            ..Facts::default()
        }
    }

    #[test]
    fn nothing_is_answered_under_another_name() {
        let world = world();
        for entrance in [
            Entrance::Open,
            Entrance::Read(Role::Viewer),
            Entrance::Write(Role::Admin),
        ] {
            for host in [None, Some("evil.example:7667"), Some("0.0.0.0:7667")] {
                let facts = Facts {
                    host,
                    ..browser(secret(1))
                };
                assert_eq!(
                    ask(&world, entrance, &facts),
                    Err(Refusal::OtherHost),
                    "{host:?}"
                );
            }
            let facts = Facts {
                authority: Some("evil.example"),
                ..browser(secret(1))
            };
            assert_eq!(ask(&world, entrance, &facts), Err(Refusal::OtherHost));
        }
    }

    #[test]
    fn everything_but_the_door_needs_a_session_or_a_token() {
        let world = world();
        let nobody = Facts {
            host: Some(HOST),
            ..Facts::default()
        };
        assert_eq!(ask(&world, Entrance::Open, &nobody), Ok(None));
        for entrance in [Entrance::Read(Role::Viewer), Entrance::Write(Role::Viewer)] {
            assert_eq!(ask(&world, entrance, &nobody), Err(Refusal::NotSignedIn));
            for facts in [
                browser(secret(7)),
                browser(secret(3)),
                browser(secret(4)),
                client(secret(1)),
                client(secret(7)),
            ] {
                assert_eq!(ask(&world, entrance, &facts), Err(Refusal::UnknownSecret));
            }
            let mut malformed = nobody;
            malformed.credentials.is_malformed = true;
            assert_eq!(
                ask(&world, entrance, &malformed),
                Err(Refusal::UnknownSecret)
            );
        }
        let owner = ask(&world, Entrance::Write(Role::Admin), &browser(secret(1)));
        assert_eq!(owner.unwrap().unwrap().user, None);
    }

    #[test]
    fn a_session_is_good_only_under_the_name_that_no_other_server_has() {
        let world = world();
        let everything = [
            Entrance::Read(Role::Viewer),
            Entrance::Write(Role::Viewer),
            Entrance::SignIn,
        ];
        for entrance in everything {
            let own = Facts {
                host: Some(MACHINE),
                origin: Some("http://localhost:7667"),
                ..browser(secret(1))
            };
            assert_eq!(ask(&world, entrance, &own), Err(Refusal::OtherName));
        }
        let signs_in = ask(&world, Entrance::SignIn, &browser(secret(7)));
        assert_eq!(signs_in, Ok(None));
        let client = Facts {
            host: Some(MACHINE),
            ..client(secret(8))
        };
        assert!(ask(&world, Entrance::Write(Role::Viewer), &client).is_ok());
        let opened = ask(&world, Entrance::Open, &client);
        assert_eq!(opened, Ok(None), "the stylesheet of the refusal");
    }

    #[test]
    fn a_browser_changes_something_only_from_a_page_of_this_server() {
        let world = world();
        let write = Entrance::Write(Role::Viewer);
        for (origin, site, expected) in [
            (Some(OWN), Some(FetchSite::SameOrigin), true),
            (Some(OWN), None, true),
            (None, Some(FetchSite::SameOrigin), false),
            (None, None, false),
            (Some("null"), None, false),
            (Some("http://evil.example"), None, false),
            (
                Some("https://symphony-k3f9a2xq.localhost:7667"),
                None,
                false,
            ),
            (Some("http://localhost:7667"), None, false),
            (Some("http://127.0.0.1:7667"), None, false),
            (Some(OWN), Some(FetchSite::Other), false),
            (Some(OWN), Some(FetchSite::None), false),
        ] {
            let facts = Facts {
                origin,
                site,
                ..browser(secret(1))
            };
            let found = ask(&world, write, &facts);
            assert_eq!(found.is_ok(), expected, "{origin:?} {site:?} {found:?}");
        }
        let foreign = Facts {
            origin: Some("http://evil.example"),
            ..browser(secret(1))
        };
        assert_eq!(
            ask(&world, Entrance::Read(Role::Viewer), &foreign),
            Err(Refusal::ForeignPage)
        );
        let foreign = Facts {
            origin: Some("http://evil.example"),
            ..client(secret(8))
        };
        assert_eq!(ask(&world, write, &foreign), Err(Refusal::ForeignPage));
        assert!(
            ask(&world, write, &client(secret(8))).is_ok(),
            "a program sends no origin"
        );
    }

    #[test]
    fn each_role_may_do_what_those_before_it_may() {
        let mut world = world();
        for (facts, role) in [
            (client(secret(9)), Role::Viewer),
            (client(secret(8)), Role::Reviewer),
            (browser(secret(2)), Role::Reviewer),
            (browser(secret(1)), Role::Admin),
        ] {
            for needed in [Role::Viewer, Role::Reviewer, Role::Admin] {
                let found = ask(&world, Entrance::Write(needed), &facts);
                assert_eq!(found.is_ok(), role >= needed, "{role:?} {needed:?}");
            }
        }
        world.is_read_only = true;
        let write = ask(&world, Entrance::Write(Role::Reviewer), &browser(secret(1)));
        assert_eq!(write, Err(Refusal::ReadOnly));
        let sign_out = ask(&world, Entrance::Write(Role::Viewer), &browser(secret(1)));
        assert!(sign_out.is_ok());
        assert!(ask(&world, Entrance::Read(Role::Admin), &browser(secret(1))).is_ok());
    }

    #[test]
    fn a_form_is_of_its_own_session() {
        let world = world();
        let visitor = |facts| {
            ask(&world, Entrance::Write(Role::Viewer), &facts)
                .unwrap()
                .unwrap()
        };
        let owner = visitor(browser(secret(1)));
        let own = secret(1).form_token();
        assert_eq!(owner.check_form(Some(own.reveal())), Ok(()));
        for sent in [
            None,
            Some(""),
            Some(secret(1).reveal()),
            Some(secret(2).form_token().reveal()),
        ] {
            assert_eq!(owner.check_form(sent), Err(Refusal::NoFormToken));
        }
        assert_eq!(visitor(client(secret(8))).check_form(None), Ok(()));
    }
}
