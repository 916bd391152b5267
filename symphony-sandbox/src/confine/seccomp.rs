//! The system calls that a confined process may not make.
//!
//! Files are Landlock's business and the view of them bubblewrap's. What is refused here goes round both: interfaces
//! with a large attack surface in the kernel, those that act on other processes of the same user, and those that make
//! namespaces or mounts. Compilers, test suites, package managers and both agents' command lines need none of them;
//! debuggers and tracers do, and do not work in a sandbox.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter, sock_filter,
};

use super::ConfineError;

/// Refused whatever their arguments are.
const REFUSED: &[libc::c_long] = &[
    // other processes: their memory, descriptors and system calls
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // mounts and namespaces
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_mount_setattr,
    STATMOUNT,
    LISTMOUNT,
    libc::SYS_setns,
    libc::SYS_unshare,
    // files by a handle instead of a path
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    // keys of the user's session
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // interfaces in which holes of the kernel were found again and again
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_memfd_secret,
    libc::SYS_vmsplice,
    libc::SYS_personality,
    // the machine
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_reboot,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

// Newer calls, which have the same number on every machine.
const STATMOUNT: libc::c_long = 457;
const LISTMOUNT: libc::c_long = 458;
const OPEN_TREE_ATTR: libc::c_long = 467;

/// Requests of a terminal that type for its user (`TIOCSTI`, CVE-2016-2568), paste a selection (`TIOCLINUX`, CVE-2023-28100), or
/// load a line discipline (`TIOCSETD`, CVE-2017-2636).
const TERMINAL_REQUESTS: [u64; 3] = [0x5412, 0x541C, 0x5423];

/// A mode that lets whoever executes a file be its owner or its group: outside of the sandbox it would do so, too.
const SET_ID: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Calls that give a file a mode, and which of their arguments it is.
const MODES: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (libc::SYS_fchmodat2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 2),
    (libc::SYS_openat, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls whose flags or modes are in memory, where no filter looks. Libraries take an unknown call for an old kernel, and use
/// `clone` and `openat`.
const UNKNOWN: [libc::c_long; 2] = [libc::SYS_clone3, libc::SYS_openat2];

/// The families of sockets that programs need: local, IPv4, IPv6, and netlink for the list of network interfaces.
const FAMILIES: [libc::c_int; 4] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

/// Protocols over IP that Landlock's and most firewalls' rules do not know: MPTCP, SCTP, and SMC.
const PROTOCOLS: [libc::c_int; 3] = [libc::IPPROTO_MPTCP, libc::IPPROTO_SCTP, 256];

/// The option of a TCP socket that loads a protocol of the kernel on top of it.
const TCP_ULP: libc::c_int = 31;

/// The kind of target of `ioprio_set` that is one process.
const IOPRIO_WHO_PROCESS: u64 = 1;

/// The kernel looks at this part of a socket's type; the rest are flags.
const TYPE_MASK: u64 = 0xf;

/// System calls of a process with 32-bit pointers on x86-64 have numbers of their own, which the lists above miss.
#[cfg(target_arch = "x86_64")]
const X32_BIT: u32 = 0x4000_0000;

/// `struct seccomp_data { int nr; … }`
const NUMBER_OFFSET: u32 = 0;
const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS

type Rules = BTreeMap<libc::c_long, Vec<SeccompRule>>;

/// Restricts this process and all that it starts. `no_new_privs` must be set before.
pub(super) fn restrict() -> Result<(), ConfineError> {
    for program in programs().map_err(refused)? {
        apply_filter(&program).map_err(refused)?;
    }
    Ok(())
}

fn refused(error: impl std::fmt::Display) -> ConfineError {
    ConfineError::Seccomp(error.to_string())
}

/// The kernel asks all of them and takes the strictest answer.
fn programs() -> Result<Vec<BpfProgram>, seccompiler::Error> {
    let mut programs = vec![
        divided(rules()?, libc::EPERM)?,
        program(UNKNOWN.map(|call| (call, Vec::new())).into(), libc::ENOSYS)?,
    ];
    #[cfg(target_arch = "x86_64")]
    programs.push(no_x32());
    Ok(programs)
}

/// Makes a program in which comparisons of the call's number lead to an eighth of the rules. The kernel goes through a new program
/// once for each call that there is, so that a long one costs a part of each start.
fn divided(mut rules: Rules, answer: libc::c_int) -> Result<BpfProgram, seccompiler::Error> {
    const PARTS: usize = 8;
    let size = rules.len().div_ceil(PARTS).max(1);
    // from the end: each part goes before those with higher numbers
    let mut made: Option<(u32, BpfProgram)> = None;
    while let Some(first) = rules.keys().rev().take(size).next_back().copied() {
        let part = program(rules.split_off(&first), answer)?;
        let first = u32::try_from(first).unwrap_or_default();
        made = Some(match made {
            None => (first, part),
            Some((number, higher)) => (first, lower_or_higher(number, part, higher)),
        });
    }
    made.map_or_else(|| program(rules, answer), |(_, made)| Ok(made))
}

/// Returns a program that is `higher` for calls from `number` on, and `lower` for all others.
fn lower_or_higher(number: u32, lower: BpfProgram, higher: BpfProgram) -> BpfProgram {
    const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
    const JUMP_IF_NOT_LESS: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
    let one = |code, jf, k| sock_filter { code, jt: 0, jf, k };
    let length = u32::try_from(lower.len()).expect("a program has at most 4096 instructions");
    let mut all = vec![
        one(LOAD_WORD, 0, NUMBER_OFFSET),
        one(JUMP_IF_NOT_LESS, 1, number),
        one(JUMP, 0, length),
    ];
    all.extend(lower);
    all.extend(higher);
    all
}

fn program(rules: Rules, answer: libc::c_int) -> Result<BpfProgram, seccompiler::Error> {
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(answer.unsigned_abs()),
        std::env::consts::ARCH.try_into()?,
    )?;
    Ok(filter.try_into()?)
}

fn rules() -> Result<Rules, seccompiler::Error> {
    // no condition means any arguments
    let mut rules: Rules = REFUSED.iter().map(|call| (*call, Vec::new())).collect();
    let terminal = TERMINAL_REQUESTS.map(|request| all(&[(1, SeccompCmpOp::Eq, request)]));
    rules.insert(
        libc::SYS_ioctl,
        terminal.into_iter().collect::<Result<_, _>>()?,
    );
    rules.insert(libc::SYS_socket, sockets()?);
    rules.insert(libc::SYS_socketpair, sockets()?);
    rules.insert(
        libc::SYS_setsockopt,
        vec![all(&[
            (1, SeccompCmpOp::Eq, number(libc::IPPROTO_TCP)),
            (2, SeccompCmpOp::Eq, number(TCP_ULP)),
        ])?],
    );
    for (call, mode) in MODES {
        let set_id =
            SET_ID.map(|bit| all(&[(*mode, SeccompCmpOp::MaskedEq(bit.into()), bit.into())]));
        rules.insert(*call, set_id.into_iter().collect::<Result<_, _>>()?);
    }
    // Landlock keeps signals inside, but not these
    for (call, process) in [
        (libc::SYS_prlimit64, 0),
        (libc::SYS_sched_setaffinity, 0),
        (libc::SYS_sched_setattr, 0),
        (libc::SYS_sched_setparam, 0),
        (libc::SYS_sched_setscheduler, 0),
    ] {
        rules.insert(call, vec![all(&[(process, SeccompCmpOp::Ne, 0)])?]);
    }
    // a group or a user as a whole may have processes outside
    for (call, kind) in [
        (
            libc::SYS_setpriority,
            number(libc::PRIO_PROCESS.cast_signed()),
        ),
        (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
    ] {
        rules.insert(
            call,
            vec![
                all(&[(0, SeccompCmpOp::Ne, kind)])?,
                all(&[(1, SeccompCmpOp::Ne, 0)])?,
            ],
        );
    }
    let user_namespace = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
    rules.insert(
        libc::SYS_clone,
        vec![all(&[(
            0,
            SeccompCmpOp::MaskedEq(user_namespace),
            user_namespace,
        )])?],
    );
    Ok(rules)
}

/// Returns a number of the kernel's interface, which is never negative, as seccomp compares it.
fn number(value: libc::c_int) -> u64 {
    u64::from(value.unsigned_abs())
}

fn sockets() -> Result<Vec<SeccompRule>, seccompiler::Error> {
    let other_families: Vec<_> = FAMILIES
        .iter()
        .map(|family| (0, SeccompCmpOp::Ne, number(*family)))
        .collect();
    let mut rules = vec![
        all(&other_families)?,
        all(&[
            (0, SeccompCmpOp::Eq, number(libc::AF_NETLINK)),
            (2, SeccompCmpOp::Ne, number(libc::NETLINK_ROUTE)),
        ])?,
        all(&[
            (0, SeccompCmpOp::Ne, number(libc::AF_NETLINK)),
            (1, SeccompCmpOp::MaskedEq(TYPE_MASK), number(libc::SOCK_RAW)),
        ])?,
    ];
    // without a protocol it is SCTP
    for family in [libc::AF_INET, libc::AF_INET6] {
        rules.push(all(&[
            (0, SeccompCmpOp::Eq, number(family)),
            (
                1,
                SeccompCmpOp::MaskedEq(TYPE_MASK),
                number(libc::SOCK_SEQPACKET),
            ),
        ])?);
    }
    for protocol in PROTOCOLS {
        rules.push(all(&[(2, SeccompCmpOp::Eq, number(protocol))])?);
    }
    Ok(rules)
}

/// A rule that holds when all conditions do. The kernel looks at the lower 32 bits of each of these arguments.
fn all(conditions: &[(u8, SeccompCmpOp, u64)]) -> Result<SeccompRule, seccompiler::Error> {
    let conditions = conditions
        .iter()
        .map(|(argument, operator, value)| {
            SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator.clone(), *value)
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(SeccompRule::new(conditions)?)
}

/// Answers "unknown call" to those with 32-bit pointers. A process of another architecture (`int 0x80`) is killed by
/// the other programs.
#[cfg(target_arch = "x86_64")]
fn no_x32() -> BpfProgram {
    const JUMP_IF_SET: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
    const RETURN: u16 = 0x06; // BPF_RET | BPF_K
    let one = |code, jt, k| sock_filter { code, jt, jf: 0, k };
    vec![
        one(LOAD_WORD, 0, NUMBER_OFFSET),
        one(JUMP_IF_SET, 1, X32_BIT),
        one(RETURN, 0, libc::SECCOMP_RET_ALLOW),
        one(
            RETURN,
            0,
            libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs(),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a program answers to a call, as the kernel does.
    fn answer(program: &[sock_filter], arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
        let half = |word: u32| {
            let argument = arguments[usize::try_from(word / 2).unwrap()];
            u32::try_from((argument >> (32 * (word % 2))) & u64::from(u32::MAX)).unwrap()
        };
        let (mut at, mut value) = (0, 0);
        loop {
            let sock_filter { code, jt, jf, k } = program[at];
            at += 1;
            let is_true = match code {
                0x20 => {
                    value = match k / 4 {
                        0 => number,
                        1 => arch,
                        word => half(word - 4),
                    };
                    continue;
                }
                0x54 => {
                    value &= k;
                    continue;
                }
                0x05 => {
                    at += usize::try_from(k).unwrap();
                    continue;
                }
                0x06 => return k,
                0x15 => value == k,
                0x25 => value > k,
                0x35 => value >= k,
                0x45 => value & k != 0,
                other => panic!("an unknown instruction {other:#x}"),
            };
            at += usize::from(if is_true { jt } else { jf });
        }
    }

    #[test]
    fn a_divided_program_answers_as_the_whole_one() {
        const ARCH_AT: usize = 1;
        let whole = program(rules().unwrap(), libc::EPERM).unwrap();
        let divided = divided(rules().unwrap(), libc::EPERM).unwrap();
        // the first instructions check the architecture
        let arch = whole[ARCH_AT].k;
        let arguments = [
            0,
            1,
            2,
            3,
            6,
            10,
            31,
            40,
            0x5412,
            0xc00,
            0x1000_0000,
            u64::MAX,
        ];
        let mut refused = 0;
        for number in (0..600).chain([X32_BIT, X32_BIT + 1, X32_BIT + 101, u32::MAX]) {
            for (arch, first) in [(arch, 0), (arch, 7), (arch ^ 1, 0)] {
                for second in arguments {
                    for third in arguments {
                        let call = [first, second, third, third, 0, 0];
                        let expected = answer(&whole, arch, number, call);
                        let found = answer(&divided, arch, number, call);
                        assert_eq!(found, expected, "{number} {call:?}");
                        refused += u32::from(expected != libc::SECCOMP_RET_ALLOW);
                    }
                }
            }
        }
        assert!(refused > 0);
    }

    #[test]
    fn every_program_is_accepted_by_the_compiler_and_fits() {
        let programs = programs().unwrap();
        assert!(programs.iter().all(|program| !program.is_empty()));
        let length: usize = programs.iter().map(Vec::len).sum();
        assert!(length < 4096, "{length} instructions"); // BPF_MAXINSNS
    }
}
