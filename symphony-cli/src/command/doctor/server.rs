//! What a server of PostgreSQL has to be: new enough, safe, with the right texts, and reached as it should be.

use symphony_core::config::ServerAddress;
use symphony_core::listing::list_few;
use symphony_core::placement::CLOCKS_APART_MS_MAX;
use symphony_store::{SCHEMA_VERSION, ServerFacts};
use symphony_view::text::plural;

use super::check::CheckView;

const CHECK: &str = "server";
/// The oldest version that is supported; older ones no longer get corrections.
const VERSION_MIN: i64 = 140_000;
/// How far two clocks may differ: leases of runs are compared by them.
const CLOCK_MAX_MS: u64 = CLOCKS_APART_MS_MAX;
/// How far two clocks should differ at most: times of one log come from several hosts.
const CLOCK_WARNING_MS: u64 = 2_000;
/// Columns that a line names.
const NAMES_MAX: usize = 3;
/// Where everything about servers is described.
const GUIDE: &str =
    "docs/scale-out.md describes how to set up a server; `symphony doctor` checks it again";

/// Judges what a server says about itself.
pub(super) fn check_server(address: &ServerAddress, facts: &ServerFacts) -> Vec<CheckView> {
    let mut checks = vec![check_version(address, facts)];
    checks.extend(check_texts(facts));
    checks.extend(check_safety(facts));
    checks.push(check_user(address, facts));
    checks.push(check_connection(address, facts));
    checks.push(check_clock(facts));
    checks
}

fn check_version(address: &ServerAddress, facts: &ServerFacts) -> CheckView {
    let detail = format!(
        "{address}, PostgreSQL {}, schema {SCHEMA_VERSION}",
        facts.version
    );
    if facts.version_number < VERSION_MIN {
        let detail = format!("{detail}: 14 or newer is needed");
        return CheckView::failed("database", &detail, format!("update the server: {GUIDE}"));
    }
    CheckView::ok("database", detail)
}

fn check_texts(facts: &ServerFacts) -> Option<CheckView> {
    if facts.encoding != "UTF8" {
        let detail = format!("the database's encoding is {}, not UTF8", facts.encoding);
        let fix = "create a new database with `CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0`, and move to it with `symphony db copy`";
        return Some(CheckView::failed(CHECK, &detail, fix));
    }
    if facts.other_collations.is_empty() {
        return None;
    }
    let detail = format!(
        "texts are not compared byte by byte in {} ({}): an update of the server's system could reorder them",
        plural(facts.other_collations.len(), "column"),
        list_few(facts.other_collations.iter().map(String::as_str), NAMES_MAX)
    );
    let fix =
        "copy the database into a schema that `symphony db init` made, with `symphony db copy`";
    Some(CheckView::failed(CHECK, &detail, fix))
}

/// A committed write must not be lost.
fn check_safety(facts: &ServerFacts) -> Option<CheckView> {
    if facts.is_standby {
        let fix = "name the primary server with `symphony config set database postgres://…`";
        return Some(CheckView::failed(
            CHECK,
            &"it is a standby, which only reads",
            fix,
        ));
    }
    if facts.unsafe_settings.is_empty() {
        return None;
    }
    let detail = format!(
        "a crash of the server can lose what was committed: {}",
        facts.unsafe_settings.join(", ")
    );
    Some(CheckView::warning(
        CHECK,
        detail,
        "switch it on in `postgresql.conf`, then `SELECT pg_reload_conf()`",
    ))
}

fn check_user(address: &ServerAddress, facts: &ServerFacts) -> CheckView {
    let user = address.user();
    if facts.is_superuser {
        return CheckView::warning(
            CHECK,
            format!("`{user}` may do everything on the server"),
            "create a user with the role `symphony_control` (docs/scale-out.md), and name it in the address",
        );
    }
    if facts.may_change_tables {
        return CheckView::warning(
            CHECK,
            format!("`{user}` may change and remove the tables"),
            "use the owner only for `symphony db init`, and name a user with the role `symphony_control` in the address",
        );
    }
    let roles = match facts.roles.as_slice() {
        [] => "no role of Symphony's".to_owned(),
        roles => format!("`{}`", roles.join("`, `")),
    };
    CheckView::ok(CHECK, format!("user `{user}` of {roles}"))
}

fn check_connection(address: &ServerAddress, facts: &ServerFacts) -> CheckView {
    if facts.is_encrypted {
        return CheckView::ok(
            CHECK,
            "the connection is encrypted, and the certificate is checked",
        );
    }
    if address.is_encrypted() {
        // a program between the two, such as a pooler, ends the encryption
        return CheckView::warning(
            CHECK,
            format!(
                "the connection to {} is encrypted, but not the one from there to the server",
                address.host()
            ),
            "encrypt the whole way, unless both are on one machine",
        );
    }
    CheckView::ok(CHECK, "the connection does not leave this machine")
}

fn check_clock(facts: &ServerFacts) -> CheckView {
    let apart = facts.clock_ahead_ms.unsigned_abs();
    let way = if facts.clock_ahead_ms > 0 {
        "ahead of"
    } else {
        "behind"
    };
    let seconds = apart / 1000;
    let detail = format!("its clock is {seconds} s {way} this machine's");
    let fix = "synchronise both clocks over the network; `timedatectl` shows whether they are";
    if apart > CLOCK_MAX_MS {
        CheckView::failed(CHECK, &detail, fix)
    } else if apart > CLOCK_WARNING_MS {
        CheckView::warning(CHECK, detail, fix)
    } else {
        CheckView::ok(CHECK, "its clock agrees with the clock of this machine")
    }
}

#[cfg(test)]
mod tests {
    use symphony_view::text::{Clock, Page};

    use super::super::check::write_checks;
    use super::*;

    fn good() -> ServerFacts {
        ServerFacts {
            version: "15.18".into(),
            version_number: 150_018,
            encoding: "UTF8".into(),
            other_collations: vec![],
            roles: vec!["symphony_control".into()],
            is_superuser: false,
            may_change_tables: false,
            is_encrypted: true,
            unsafe_settings: vec![],
            connections_max: 97,
            is_standby: false,
            clock_ahead_ms: 3,
        }
    }

    #[test]
    fn each_fault_of_a_server_is_named_with_its_remedy() {
        let address = ServerAddress::parse("postgres://ann@db.example/team").unwrap();
        let cases: [(&str, ServerFacts); 10] = [
            ("good", good()),
            (
                "old",
                ServerFacts {
                    version: "13.2".into(),
                    version_number: 130_002,
                    ..good()
                },
            ),
            (
                "latin",
                ServerFacts {
                    encoding: "LATIN1".into(),
                    ..good()
                },
            ),
            (
                "collated",
                ServerFacts {
                    other_collations: vec!["issue.id".into()],
                    ..good()
                },
            ),
            (
                "standby",
                ServerFacts {
                    is_standby: true,
                    ..good()
                },
            ),
            (
                "unsafe",
                ServerFacts {
                    unsafe_settings: vec!["fsync = off".into()],
                    ..good()
                },
            ),
            (
                "superuser",
                ServerFacts {
                    is_superuser: true,
                    ..good()
                },
            ),
            (
                "owner",
                ServerFacts {
                    may_change_tables: true,
                    ..good()
                },
            ),
            (
                "pooler",
                ServerFacts {
                    is_encrypted: false,
                    ..good()
                },
            ),
            (
                "clock",
                ServerFacts {
                    clock_ahead_ms: -40_500,
                    ..good()
                },
            ),
        ];
        let mut shown = String::new();
        for (name, facts) in cases {
            shown.push_str(&format!("# {name}\n"));
            let mut page = Page::new(None, Clock::system());
            write_checks(&check_server(&address, &facts), &mut page);
            shown.push_str(&page.into_text());
        }
        let shown = shown.replace(&format!("schema {SCHEMA_VERSION}"), "schema N");
        insta::assert_snapshot!(shown);
    }
}
