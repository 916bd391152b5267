//! The system calls that have no safe wrapper in the crates that are used here.
#![expect(
    unsafe_code,
    reason = "three system calls with plain numbers; each says why it can harm no memory"
)]

use std::fs;
use std::io;

/// The first descriptor after the three that every program has.
const FIRST: libc::c_uint = 3;

/// Closes every open descriptor but the standard three. To be called before this process opened any itself.
///
/// bubblewrap passes on what it inherited: a descriptor of a folder outside the sandbox is a way out of it.
///
/// # Errors
/// When the kernel is older than Linux 5.9. Landlock needs a newer one.
pub(crate) fn close_inherited() -> io::Result<()> {
    const NO_FLAGS: libc::c_uint = 0;
    // SAFETY: the call takes three numbers. What is open was inherited, so nothing in this process owns it.
    let result =
        unsafe { libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, NO_FLAGS) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Which of two processes goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Copied {
    /// The one that asked.
    Original,
    /// The new one.
    Copy,
}

/// Makes a copy of this process, which goes on from here as well. It is a child of this process's parent, and none of its own.
///
/// # Errors
/// When the kernel refuses, or there is more than one thread.
pub(crate) fn copy_beside() -> io::Result<Copied> {
    if fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::Error::other(
            "a process with several threads cannot be copied",
        ));
    }
    let flags = libc::CLONE_PARENT | libc::SIGCHLD;
    // SAFETY: without further flags the copy has memory of its own, and goes on with the same stack in it, as after `fork`.
    // There is one thread, so no other one can have left a lock taken or data half written in the copy.
    let number = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match number {
        0 => Ok(Copied::Copy),
        1.. => Ok(Copied::Original),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the version of the kernel's Landlock; `None` where it has none or it is disabled.
pub fn landlock_abi() -> Option<u32> {
    /// `LANDLOCK_CREATE_RULESET_VERSION`: the call returns the version instead of creating anything.
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel requires a null pointer and the size 0, and reads no memory.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            VERSION,
        )
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}
