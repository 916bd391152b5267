//! What of the settings of a sandbox results may depend on.

use std::os::unix::ffi::OsStrExt as _;

use symphony_core::config::SandboxSettings;

/// Returns what the configuration says that results may depend on.
pub(super) fn said(settings: &SandboxSettings) -> Vec<Vec<u8>> {
    if !settings.is_on() {
        return Vec::new();
    }
    let mut all: Vec<Vec<u8>> = [
        settings.level.name(),
        settings.network.name(),
        settings.cache.name(),
    ]
    .map(Into::into)
    .to_vec();
    let limits = [
        settings.memory_bytes.unwrap_or(0),
        settings.processes,
        settings.tmp_bytes,
    ];
    all.extend(limits.map(|limit| limit.to_le_bytes().to_vec()));
    for (name, paths) in [("read", &settings.read), ("write", &settings.write)] {
        all.push(name.into());
        all.extend(
            paths
                .iter()
                .map(|path| path.as_os_str().as_bytes().to_vec()),
        );
    }
    all.push("hosts".into());
    all.extend(settings.hosts.iter().map(|host| host.clone().into_bytes()));
    all
}

#[cfg(test)]
mod tests {
    use symphony_core::config::{SandboxCache, SandboxNetwork, SandboxSetting};

    use super::*;

    #[test]
    fn results_depend_on_each_setting_that_commands_can_notice() {
        let namespace = || SandboxSettings {
            level: SandboxSetting::Namespace,
            ..SandboxSettings::default()
        };
        let mut seen = vec![said(&SandboxSettings::default())];
        assert!(seen.iter().all(Vec::is_empty), "nothing at `off`");
        for changed in [
            namespace(),
            SandboxSettings {
                level: SandboxSetting::Landlock,
                ..namespace()
            },
            SandboxSettings {
                network: SandboxNetwork::Host,
                ..namespace()
            },
            SandboxSettings {
                cache: SandboxCache::None,
                ..namespace()
            },
            SandboxSettings {
                read: vec!["/data".into()],
                ..namespace()
            },
            SandboxSettings {
                write: vec!["/data".into()],
                ..namespace()
            },
            SandboxSettings {
                hosts: vec!["example.com".to_owned()],
                ..namespace()
            },
            SandboxSettings {
                processes: 64,
                ..namespace()
            },
            SandboxSettings {
                tmp_bytes: 1 << 20,
                ..namespace()
            },
            SandboxSettings {
                memory_bytes: Some(1 << 30),
                ..namespace()
            },
        ] {
            let now = said(&changed);
            assert!(!seen.contains(&now), "{changed:?}");
            seen.push(now);
        }
        assert_eq!(said(&namespace()), said(&namespace()));
    }
}
