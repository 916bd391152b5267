//! The two system calls that have no safe wrapper in the crates that are used here.
#![expect(
    unsafe_code,
    reason = "two system calls with plain numbers, which can harm no memory"
)]

use std::io;

/// The first descriptor after the three that every program has.
const FIRST: libc::c_uint = 3;

/// Marks every open descriptor but the standard three to be closed when a program is executed.
///
/// bubblewrap passes on what it inherited: a descriptor of a folder outside the sandbox is a way out of it.
///
/// # Errors
/// When the kernel is older than Linux 5.11. Landlock needs a newer one.
pub(crate) fn close_others_on_exec() -> io::Result<()> {
    // SAFETY: the call takes three numbers, and closes nothing now: descriptors that are in use stay valid.
    let result = unsafe {
        libc::syscall(
            libc::SYS_close_range,
            FIRST,
            libc::c_uint::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
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
