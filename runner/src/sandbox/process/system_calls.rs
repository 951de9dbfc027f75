//! Seccomp: allows the system calls that a runner needs, some of them with certain arguments only. All others fail with `EPERM`.
//!
//! The allowed calls compute, wait, use open descriptors, and start threads. None takes a path or an address, opens something
//! that exists already, or names another process.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::layer::Layer;
use crate::sandbox::memory_reuse::{PAGEMAP_SCAN, Pagemap};

/// System calls that are allowed with any arguments.
const ALLOWED: &[i64] = &[
    // Open descriptors.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvmsg,
    libc::SYS_sendmsg,
    libc::SYS_close,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_eventfd2,
    libc::SYS_ppoll,
    // Memory. The image of a component's memory is an unnamed file.
    libc::SYS_brk,
    libc::SYS_madvise,
    libc::SYS_memfd_create,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    // Threads.
    libc::SYS_clone3, // see `without_clone3`
    libc::SYS_exit,
    libc::SYS_futex,
    libc::SYS_gettid,
    libc::SYS_membarrier,
    libc::SYS_rseq,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    // Signals: a guest's trap raises one.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    // Time, randomness, exit.
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_exit_group,
];

/// Older forms of some of these calls, which newer architectures lack.
#[cfg(target_arch = "x86_64")]
const OLDER: &[i64] = &[libc::SYS_epoll_wait, libc::SYS_gettimeofday, libc::SYS_poll, libc::SYS_time];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[i64] = &[];

/// Allowed commands of `fcntl`: flags, duplicates and seals of a descriptor. `F_SETOWN` would signal other processes.
const DESCRIPTOR_COMMANDS: [libc::c_int; 8] = [
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GET_SEALS,
    libc::F_ADD_SEALS,
    libc::F_DUPFD,
];

/// Allows the calls of this file, for this thread and the threads that it starts.
pub fn refuse(pagemap: Option<&Pagemap>) -> Layer {
    match try_refuse(pagemap) {
        Ok(()) => Layer::Whole,
        Err(error) => Layer::Absent(error.to_string()),
    }
}

fn try_refuse(pagemap: Option<&Pagemap>) -> Result<(), seccompiler::Error> {
    // The kernel asks the last filter first, and the strictest answer wins.
    apply_filter(&without_clone3()?)?;
    apply_filter(&build_listed_program(pagemap)?)
}

/// Reports `clone3` as missing, since a filter cannot see its flags. Libraries then use `clone`.
fn without_clone3() -> Result<BpfProgram, BackendError> {
    let missing = SeccompAction::Errno(libc::ENOSYS.cast_unsigned());
    build_program(BTreeMap::from([(libc::SYS_clone3, Vec::new())]), SeccompAction::Allow, missing)
}

fn build_listed_program(pagemap: Option<&Pagemap>) -> Result<BpfProgram, BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    rules.extend(ALLOWED.iter().chain(OLDER).map(|call| (*call, Vec::new())));
    // Threads only, no processes.
    let thread = u64::from(libc::CLONE_THREAD.cast_unsigned());
    rules.insert(libc::SYS_clone, vec![build_rule(0, SeccompCmpOp::MaskedEq(thread), thread)?]);
    // An abort signals a thread of this process.
    rules.insert(libc::SYS_tgkill, build_one_of(0, &[nix::unistd::getpid().as_raw()])?);
    // Limits may be read, and not set.
    rules.insert(libc::SYS_prlimit64, vec![build_rule(2, SeccompCmpOp::Eq, 0)?]);
    rules.insert(libc::SYS_fcntl, build_one_of(1, &DESCRIPTOR_COMMANDS)?);
    rules.insert(libc::SYS_prctl, build_one_of(0, &[libc::PR_SET_NAME, libc::PR_SET_VMA])?);
    // The only `ioctl` asks the page map which pages of this process were written to.
    if let Some(pagemap) = pagemap {
        let arguments = [(0, pagemap.descriptor().cast_unsigned()), (1, PAGEMAP_SCAN)];
        let is = |(argument, value)| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(value))
        };
        rules
            .insert(libc::SYS_ioctl, vec![SeccompRule::new(arguments.map(is).into_iter().collect::<Result<_, _>>()?)?]);
    }
    build_program(rules, SeccompAction::Errno(libc::EPERM.cast_unsigned()), SeccompAction::Allow)
}

fn build_program(
    rules: BTreeMap<i64, Vec<SeccompRule>>,
    others: SeccompAction,
    listed: SeccompAction,
) -> Result<BpfProgram, BackendError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, others, listed, architecture)?.try_into()
}

fn build_rule(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value)?;
    SeccompRule::new(vec![condition])
}

fn build_one_of(argument: u8, values: &[libc::c_int]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |value: &libc::c_int| {
        let value = u64::from(value.cast_unsigned());
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)?;
        SeccompRule::new(vec![condition])
    };
    values.iter().map(rule).collect()
}
