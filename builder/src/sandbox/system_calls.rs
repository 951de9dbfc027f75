//! The sandbox's seccomp filters. Compilers and their children use most system calls, so that these filters list the
//! refused ones: calls that reach other processes or the kernel, and memory that no bound counts.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

/// Refused with any arguments.
const REFUSED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    libc::SYS_name_to_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_quotactl,
    // The kernel itself.
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_vhangup,
    // Keys belong to a user, and not to a namespace.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The machine's clock and names.
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    // Shared memory and queues that outlive their process.
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
];

/// Refused calls that only x86-64 has.
#[cfg(target_arch = "x86_64")]
const REFUSED_OLDER: &[i64] =
    &[libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_modify_ldt, libc::SYS_uselib, libc::SYS_kexec_file_load];
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_OLDER: &[i64] = &[];

/// Calls that fail with ENOSYS, so that libraries use the older call. A filter cannot read the flags of `clone3` or the
/// requests of an `io_uring`, and no process is charged for the memory of anonymous files.
const ABSENT: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
];

/// Flags of `clone` that make namespaces.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWCGROUP,
];

/// The first number that the lists above do not consider. It, all later numbers, and the second table of numbers on
/// x86-64 fail with ENOSYS.
const FIRST_UNKNOWN: u32 = 463;

/// The filters of a job, in the kernel's format.
pub fn build_filters() -> Result<[Vec<u8>; 3], BackendError> {
    Ok([encode(&build_known_filter()), encode(&build_absent_filter()?), encode(&build_refused_filter()?)])
}

/// Allows only known call numbers.
fn build_known_filter() -> BpfProgram {
    let errno = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let instruction = |code: u32, jt: u8, k: u32| sock_filter { code: code as u16, jt, jf: 0, k };
    vec![
        // The call number is the first field of the kernel's record.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        instruction(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 1, FIRST_UNKNOWN),
        instruction(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        instruction(libc::BPF_RET | libc::BPF_K, 0, errno),
    ]
}

fn build_absent_filter() -> Result<BpfProgram, BackendError> {
    compile(ABSENT.iter().map(|call| (*call, Vec::new())).collect(), libc::ENOSYS)
}

fn build_refused_filter() -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().chain(REFUSED_OLDER).map(|call| (*call, Vec::new())).collect();
    let of_namespaces = NAMESPACES.map(|flag| {
        let flag = u64::from(flag.cast_unsigned());
        build_rule(0, SeccompCmpOp::MaskedEq(flag), flag)
    });
    rules.insert(libc::SYS_clone, of_namespaces.into_iter().collect::<Result<_, _>>()?);
    // Requests that insert input into a terminal.
    let terminal_input = [libc::TIOCSTI, libc::TIOCLINUX].map(|request| build_rule(1, SeccompCmpOp::Eq, request));
    rules.insert(libc::SYS_ioctl, terminal_input.into_iter().collect::<Result<_, _>>()?);
    // Only local sockets, for the job's own processes.
    let unix = u64::from(libc::AF_UNIX.cast_unsigned());
    rules.insert(libc::SYS_socket, vec![build_rule(0, SeccompCmpOp::Ne, unix)?]);
    compile(rules, libc::EPERM)
}

fn compile(rules: BTreeMap<i64, Vec<SeccompRule>>, errno: libc::c_int) -> Result<BpfProgram, BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let listed = SeccompAction::Errno(errno.cast_unsigned());
    SeccompFilter::new(rules, SeccompAction::Allow, listed, architecture)?.try_into()
}

/// Compares the lower half of an argument; the kernel reads no more of these arguments.
fn build_rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
    SeccompRule::new(vec![condition])
}

fn encode(program: &[sock_filter]) -> Vec<u8> {
    let instruction = |filter: &sock_filter| {
        let [code, more_code] = filter.code.to_ne_bytes();
        let [k1, k2, k3, k4] = filter.k.to_ne_bytes();
        [code, more_code, filter.jt, filter.jf, k1, k2, k3, k4]
    };
    program.iter().flat_map(instruction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_call_has_a_known_number() {
        for call in REFUSED.iter().chain(REFUSED_OLDER).chain(ABSENT) {
            assert!(*call < i64::from(FIRST_UNKNOWN), "{call}");
        }
    }

    #[test]
    fn an_instruction_has_eight_bytes() {
        assert_eq!(encode(&build_known_filter()).len(), 4 * 8);
        build_filters().expect("filters");
    }
}
