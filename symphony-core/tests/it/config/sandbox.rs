//! The section `sandbox`: its short form, its keys, and what is wrong with them.

use std::path::PathBuf;

use serde_json::{Value, json};
use symphony_core::config::{
    Effective, Layer, Place, SandboxCache, SandboxNetwork, SandboxSetting, SandboxSettings, Source,
};

use super::project_file;

#[test]
fn the_level_of_a_sandbox_stands_alone_or_with_its_other_keys() {
    let levels = |text: Value| {
        let (document, problems) = project_file(&json!({ "sandbox": text }));
        let layer = Layer {
            source: Source::Database,
            settings: &document.top,
        };
        let place = Place {
            root: PathBuf::from("/src/my-api"),
            home: Some(PathBuf::from("/home/u")),
        };
        let (project, more) = Effective::resolve(&[layer], place).project_config();
        let problems = problems.iter().chain(&more).map(ToString::to_string);
        (project.sandbox, problems.collect::<Vec<_>>())
    };
    for level in SandboxSetting::ALL {
        let alone = SandboxSettings {
            level: *level,
            ..SandboxSettings::default()
        };
        assert_eq!(levels(json!(level)), (alone.clone(), Vec::new()));
        assert_eq!(levels(json!({ "level": level })), (alone, Vec::new()));
    }
    let (sandbox, problems) = levels(json!({
        "level": "namespace", "bwrap": "/opt/bwrap", "read": ["~/.npm", "/srv/./data"], "write": ["/var/cache/x"],
        "network": "host", "hosts": ["example.com:8443"], "cache": "none", "memory": 1_073_741_824, "processes": 100,
        "tmp_size": 2_097_152,
    }));
    assert_eq!(problems, Vec::<String>::new());
    assert_eq!(
        sandbox,
        SandboxSettings {
            level: SandboxSetting::Namespace,
            bwrap: "/opt/bwrap".into(),
            read: vec!["/home/u/.npm".into(), "/srv/data".into()],
            write: vec!["/var/cache/x".into()],
            network: SandboxNetwork::Host,
            hosts: vec!["example.com:8443".to_owned()],
            cache: SandboxCache::None,
            memory_bytes: Some(1 << 30),
            processes: 100,
            tmp_bytes: 2 << 20,
        }
    );
    for (value, problem) in [
        (
            json!("namespaces"),
            "sandbox: expected one of `auto`, `namespace`, `landlock`, `off`, found the text \"namespaces\"; did you mean `namespace`?",
        ),
        (
            json!(true),
            "sandbox: expected one of `auto`, `namespace`, `landlock`, `off`, or an object, found true",
        ),
        (
            json!({ "hosts": ["https://example.com/"] }),
            "sandbox.hosts[0]: expected a host (`example.com`, `*.example.com`, `example.com:8443`) or an address with a port \
             (`10.0.0.5:443`), found the text \"https://example.com/\"",
        ),
        (
            json!({ "read": ["data"] }),
            "sandbox.read[0]: expected an absolute path without `..` below `/` or `~/`, found the text \"data\"",
        ),
        (
            json!({ "read": ["/srv/data/x"], "write": ["/srv/data"] }),
            "database: sandbox.read: expected no path that is in `sandbox.write`, or below one that is, found the path /srv/data/x",
        ),
    ] {
        let (_, problems) = levels(value);
        let problems: Vec<&str> = problems
            .iter()
            .map(|problem| problem.strip_prefix("f.json: ").unwrap_or(problem))
            .collect();
        assert_eq!(problems, [problem]);
    }
}
