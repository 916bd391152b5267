//! Which attacks are left at which level.

use symphony_sandbox::{LANDLOCK_ALONE_ABI_MIN, Level, landlock_abi};

/// What `landlock` does not keep an agent from.
const LEFT_AT_LANDLOCK: &[&str] = &[
    // the network is the machine's
    "connect_to_every_address_of_the_host",
    "connect_to_host_loopback",
    "connect_to_host_loopback_by_version_6",
    "list_connections_of_the_host",
    "list_network_interfaces",
    "list_sockets_of_the_host",
    "listen_where_the_host_connects",
    "route_to_the_outside",
    "send_datagram_to_host",
    // Landlock knows files that are opened, not their attributes
    "learn_that_a_file_exists",
    "make_secret_readable_for_all",
    "watch_folder_of_secrets",
    // the list of processes, that of keys, and what System V shares belong to the machine
    "change_semaphore",
    "count_processes_of_the_user",
    "list_keys_of_the_user",
    "read_name_of_the_machine",
    "read_shared_memory_segment",
    "see_process",
    "take_message_from_queue",
    // without a namespace of processes the supervisor ends them one by one
    "live_on_in_another_session",
];

/// What `landlock` does not keep an agent from before Linux 7.1: sockets with a path.
const LEFT_BEFORE_ABI_9: &[&str] = &[
    "connect_to_container_engine",
    "connect_to_key_agent",
    "connect_to_service_of_another_run",
];

/// What `namespace` does not keep an agent from.
const LEFT_AT_NAMESPACE: &[&str] = &[
    // an agent needs the objects of its base, and objects do not say to which branch they belong
    "read_commit_of_another_branch",
];

/// Normal work that does not go on at `landlock`: `/dev/shm` is shared with everything of the user.
const NOT_AT_LANDLOCK: &[&str] = &["control_shared_memory_of_its_own"];

/// Whether an attack or normal work is expected to succeed.
pub(crate) fn succeeds(name: &str, level: Level) -> bool {
    let control = name.starts_with("control");
    let left = LEFT_AT_NAMESPACE.contains(&name);
    match level {
        Level::Off => true,
        Level::Namespace => control || left,
        Level::Landlock if control => !NOT_AT_LANDLOCK.contains(&name),
        Level::Landlock => {
            let old = landlock_abi().is_none_or(|abi| abi < LANDLOCK_ALONE_ABI_MIN);
            left || LEFT_AT_LANDLOCK.contains(&name) || old && LEFT_BEFORE_ABI_9.contains(&name)
        }
    }
}

/// Checks that no row is misspelt.
pub(crate) fn check(names: &[String]) -> Result<(), String> {
    let lists = [
        LEFT_AT_LANDLOCK,
        LEFT_BEFORE_ABI_9,
        LEFT_AT_NAMESPACE,
        NOT_AT_LANDLOCK,
    ];
    let listed = lists.concat();
    match listed
        .iter()
        .find(|listed| !names.iter().any(|name| name == *listed))
    {
        None => Ok(()),
        Some(unknown) => Err(format!("no attack is named {unknown}")),
    }
}
