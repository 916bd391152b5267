//! The keys of workers on other hosts: `pool`, `hub`, `placement`, `temporal`, `lease` and `worker`.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use symphony_core::config::{
    Config, ConfigProblem, Database, Effective, FileRole, Layer, Place, PlacementKind, Source,
    WorkerSettings,
};
use symphony_core::placement::{Lease, Pool};

use super::{file, problems, resolved};

/// Reads a global file, as the only layer.
fn global(value: &Value) -> (Config, Vec<ConfigProblem>) {
    let (document, problems) = file(value, FileRole::Global);
    assert_eq!(problems, []);
    let layer = Layer {
        source: Source::File {
            path: PathBuf::from("/home/u/c.json"),
            project: None,
        },
        settings: &document.top,
    };
    let place = Place {
        root: PathBuf::from("/src/my-api"),
        home: Some(PathBuf::from("/home/u")),
    };
    Effective::resolve(&[layer], place).config()
}

#[test]
fn nothing_is_placed_elsewhere_by_default() {
    let (config, problems) = global(&json!({}));
    assert_eq!(problems, []);
    assert_eq!(config.placement, PlacementKind::Queue);
    assert_eq!(config.temporal, None);
    assert_eq!(config.lease, Lease::default());
    let data_dir = Some(PathBuf::from("/home/u/.local/share/symphony/worker"));
    let worker = WorkerSettings {
        data_dir,
        secrets_dir: None,
    };
    assert_eq!(config.worker, worker);
    assert_eq!((config.defaults.pool, config.defaults.hub), (None, None));
}

#[test]
fn every_key_is_read() {
    let (config, problems) = global(&json!({
        "pool": "linux", "placement": "queue",
        "lease": { "beat_ms": 5_000, "fence_ms": 20_000, "dead_ms": 41_000 },
        "worker": { "data_dir": "/srv/worker", "secretsDir": "secrets" },
    }));
    assert_eq!(problems, []);
    assert_eq!(Ok(config.lease), Lease::new(5_000, 20_000, 41_000));
    let worker = config.worker;
    assert_eq!(worker.data_dir.as_deref(), Some(Path::new("/srv/worker")));
    let secrets = Path::new("/home/u/secrets");
    assert_eq!(worker.secrets_dir.as_deref(), Some(secrets));
    let linux = Pool::parse("linux").unwrap();
    assert_eq!(config.defaults.pool, Some(linux), "of all projects");
    let (project, problems) = resolved(&json!({ "pool": "gpu", "hub": "git@hub.example:api" }));
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(project.pool, Pool::parse("gpu").ok());
    assert_eq!(project.hub.as_deref(), Some("git@hub.example:api"));
}

#[test]
fn times_that_make_no_lease_are_named_by_a_key_that_is_set() {
    for (lease, expected) in [
        (
            json!({ "dead_ms": 70_000 }),
            "/home/u/c.json: lease.dead_ms: expected more than `lease.fence_ms` + 20000 (80000), so that an agent has ended \
             before its run is given up, found `lease.dead_ms` 70000",
        ),
        (
            // the other time is the default's
            json!({ "fence_ms": 80_000 }),
            "/home/u/c.json: lease.fence_ms: expected more than `lease.fence_ms` + 20000 (100000), so that an agent has ended \
             before its run is given up, found `lease.dead_ms` 90000",
        ),
        (
            json!({ "beat_ms": 30_000, "fence_ms": 30_000 }),
            "/home/u/c.json: lease.fence_ms: expected more than `lease.beat_ms` (30000), so that a host does not end its \
             agents before their next beat, found `lease.fence_ms` 30000",
        ),
    ] {
        let (config, problems) = global(&json!({ "lease": lease }));
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown, [expected], "{lease}");
        assert_eq!(config.lease, Lease::default());
    }
}

#[test]
fn a_value_that_is_wrong_by_itself_is_named_and_no_password_repeated() {
    let wrong = json!({
        "pool": "GPU", "placement": "nomad", "lease": { "beat_ms": 10 },
        "hub": "https://me:hunter2@hub.example/api",
    });
    insta::assert_snapshot!(problems(&wrong, FileRole::Project), @r#"
    f.json: hub: expected a git repository without a password in its address (`ssh://git@host/path`, `git@host:path`, `https://host/path` or an absolute path), found a text of another form
    f.json: lease.beat_ms: expected a whole number from 1000 to 3600000, found the number 10
    f.json: placement: expected one of `queue`, `temporal`, found the text "nomad"
    f.json: pool: expected a pool's name (at most 64 lowercase letters, digits and `-` between them, such as `linux` or `gpu-large`), found the text "GPU"
    "#);
    let shared = problems(&json!({ "hub": "/srv/api" }), FileRole::Global);
    assert!(shared.contains("or below `projects.<id>`"), "{shared}");
}

#[test]
fn a_service_that_places_runs_is_read_with_what_proves_who_asks() {
    let (config, problems) = global(&json!({
        "placement": "temporal",
        "temporal": {
            "address": "https://temporal.example:7233/", "authority": "ca.pem",
            "certificate": "me.pem", "key": "/etc/me.key", "apiKeyFile": "api",
        },
    }));
    assert_eq!(problems, []);
    assert_eq!(config.placement, PlacementKind::Temporal);
    let service = config.temporal.unwrap();
    assert_eq!(service.address.as_str(), "https://temporal.example:7233");
    assert_eq!(service.namespace, "default");
    let at_home = |name: &str| PathBuf::from("/home/u").join(name);
    assert_eq!(service.authority, Some(at_home("ca.pem")));
    let pair = (at_home("me.pem"), PathBuf::from("/etc/me.key"));
    assert_eq!(service.certificate, Some(pair));
    assert_eq!(service.api_key, Some(at_home("api")));
    // the address alone changes nothing
    let local = json!({ "temporal": { "address": "http://127.0.0.1:7233", "namespace": "team" } });
    let (config, problems) = global(&local);
    assert_eq!(problems, []);
    assert_eq!(config.placement, PlacementKind::Queue);
    assert_eq!(config.temporal.unwrap().namespace, "team");
}

#[test]
fn a_service_that_cannot_be_used_safely_is_refused() {
    let address = "https://temporal.example:7233";
    let shown = |value: &Value| {
        let (_, problems) = global(value);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        shown.join("\n")
    };
    let service = |more: &Value| {
        let mut service = json!({ "address": address });
        let more = more.as_object().unwrap().clone();
        service.as_object_mut().unwrap().extend(more);
        json!({ "temporal": service })
    };
    let all = [
        shown(&json!({ "placement": "temporal" })),
        shown(&service(&json!({ "certificate": "me.pem" }))),
        shown(&service(&json!({ "key": "me.key" }))),
        shown(&service(
            &json!({ "address": "http://127.0.0.1:7233", "api_key_file": "api" }),
        )),
        problems(
            &service(&json!({ "address": "https://me:hunter2@temporal.example" })),
            FileRole::Global,
        ),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    /home/u/c.json: placement: expected `temporal.address` beside it, found `placement` without `temporal.address`
    /home/u/c.json: temporal.certificate: expected `temporal.key` beside it, found `temporal.certificate` without `temporal.key`
    /home/u/c.json: temporal.key: expected `temporal.certificate` beside it, found `temporal.key` without `temporal.certificate`
    /home/u/c.json: temporal.address: expected `https://`, since a key or a certificate is sent, found `http://127.0.0.1:7233`, which is not encrypted
    f.json: temporal.address: expected the address of a Temporal service (`https://temporal.example:7233`; `http://` only for one on this machine), found a text of another form
    ");
}

#[test]
fn a_pool_needs_a_database_that_other_hosts_reach() {
    let (document, _) = file(&json!({ "pool": "linux" }), FileRole::Project);
    let layer = Layer {
        source: Source::File {
            path: PathBuf::from("/src/my-api/symphony.config.json"),
            project: None,
        },
        settings: &document.top,
    };
    let place = Place {
        root: PathBuf::from("/src/my-api"),
        home: None,
    };
    let effective = Effective::resolve(&[layer], place.clone());
    let problem = effective.pool_problem(&Database::from("/src/my-api/s.db"));
    assert_eq!(
        problem.unwrap().to_string(),
        "/src/my-api/symphony.config.json: pool: expected a database that workers on other hosts can reach: set `database` to \
         `postgres://USER@HOST/DATABASE`, or remove `pool`, found the file /src/my-api/s.db"
    );
    let server = symphony_core::config::ServerAddress::parse("postgres://me@db.example/team");
    assert_eq!(effective.pool_problem(&server.unwrap().into()), None);
    let none = Effective::resolve(&[], place);
    assert_eq!(none.pool_problem(&Database::from("/src/my-api/s.db")), None);
}
