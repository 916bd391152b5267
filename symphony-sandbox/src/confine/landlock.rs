//! The files that a confined process reaches, by Landlock (the kernel's `Documentation/userspace-api/landlock.rst`).

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};

use super::{ConfineError, Confinement};
use crate::kernel;
use crate::level::LANDLOCK_ALONE_ABI_MIN;

/// Restricts this process and all that it starts. Sets `no_new_privs` as well.
///
/// Everything is a hard requirement: a kernel that knows only a part of it refuses. TCP is not restricted here, since
/// tests of projects listen on loopback; the namespace of the network keeps what is outside away.
pub(super) fn restrict(confinement: &Confinement) -> Result<(), ConfineError> {
    // Rules about sockets with a path exist only from this version on; without them a rule set would be refused.
    let abi = match kernel::landlock_abi() {
        Some(found) if found >= LANDLOCK_ALONE_ABI_MIN => ABI::V9,
        _ => ABI::V6,
    };
    let rules = read_only(confinement, abi).map_err(refused)?;
    let rules = confinement
        .write
        .iter()
        .try_fold(rules, |rules, path| writable(rules, path, abi))?;
    let status = devices(rules, &confinement.devices)
        .and_then(RulesetCreated::restrict_self)
        .map_err(refused)?;
    match status.ruleset {
        RulesetStatus::FullyEnforced => Ok(()),
        partly => Err(ConfineError::Landlock(format!(
            "the kernel enforces only a part of the rules ({partly:?})"
        ))),
    }
}

fn read_only(confinement: &Confinement, abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    rules.add_rules(path_beneath_rules(
        &confinement.read,
        AccessFs::from_read(abi),
    ))
}

/// Unlike those to read, what is to be written must be there: a run whose checkout is gone must not start.
fn writable(rules: RulesetCreated, path: &Path, abi: ABI) -> Result<RulesetCreated, ConfineError> {
    let access = if path.is_dir() {
        AccessFs::from_all(abi)
    } else {
        AccessFs::from_file(abi)
    };
    let found = PathFd::new(path).map_err(refused)?;
    let added = rules.add_rule(PathBeneath::new(found, access));
    added.map_err(|error| ConfineError::Landlock(format!("{}: {error}", path.display())))
}

/// A device that a container lacks is passed over.
fn devices(rules: RulesetCreated, devices: &[PathBuf]) -> Result<RulesetCreated, RulesetError> {
    let mut found = devices.iter().filter_map(|path| {
        let mut access = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
        if path.is_dir() {
            access |= AccessFs::ReadDir;
        }
        Some(PathBeneath::new(PathFd::new(path).ok()?, access))
    });
    found.try_fold(rules, RulesetCreated::add_rule)
}

fn refused(error: impl std::fmt::Display) -> ConfineError {
    ConfineError::Landlock(error.to_string())
}
