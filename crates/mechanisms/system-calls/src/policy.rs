//! Which system calls a command may make, and with which arguments.

use linux_raw_sys::errno;
use linux_raw_sys::general as nr;

use crate::allowed::ALLOWED;
use crate::call::{Call, call};
use crate::refused::REFUSED;
use crate::{Sharing, Sign};

/// What becomes of a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Rule {
    /// It is made.
    Allow,
    /// It fails with this error number and has no effect; 0 is no failure.
    Refuse(u32),
    /// The first process of the sandbox says whether it is made.
    Ask,
    /// It fails with `EPERM`, and is counted where that can be done: a [`Sign`] of an attempt to get out.
    Report,
    /// It depends on an argument: on its low 32 bits, under a mask.
    Where(&'static Condition),
}

/// A question about one argument.
#[derive(Debug, PartialEq, Eq)]
pub struct Condition {
    /// The argument, counted from 0.
    pub argument: u32,
    /// The bits that are looked at.
    pub mask: u32,
    /// The values that are told from all others.
    pub values: &'static [u32],
    /// For one of them.
    pub then: Rule,
    /// For any other.
    pub otherwise: Rule,
}

/// The highest call that was looked at. What newer kernels add is answered as by an older kernel, so that libraries fall
/// back to what they used before.
pub const HIGHEST: u32 = nr::__NR_file_setattr;

/// A call that is refused because it is forbidden.
const FORBIDDEN: Rule = Rule::Refuse(errno::EPERM);
/// A call that is refused in the way of a kernel that does not have it.
const ABSENT: Rule = Rule::Refuse(errno::ENOSYS);
const ALL_BITS: u32 = u32::MAX;

impl Rule {
    /// What becomes of a call with these arguments; never a [`Rule::Where`].
    #[must_use]
    pub fn answer(&self, arguments: [u64; 6]) -> &Self {
        let Self::Where(condition) = self else { return self };
        let argument = arguments.get(condition.argument as usize).copied().unwrap_or_default();
        let is_told =
            condition.values.iter().any(|value| u64::from(*value) == argument & u64::from(condition.mask));
        let rule = if is_told { &condition.then } else { &condition.otherwise };
        rule.answer(arguments)
    }
}

/// Calls whose flags lie in memory, where a filter cannot see them. They are absent, and libraries fall back to `clone`.
pub const HIDDEN_ARGUMENTS: [Call; 1] = [call!(__NR_clone3)];

/// The rule of a call, by its number.
#[must_use]
pub fn rule(number: u32, sharing: Sharing) -> &'static Rule {
    if sharing == Sharing::Counted
        && let Some((_, counted)) = COUNTED.iter().find(|(counted, _)| *counted == number)
    {
        return counted;
    }
    if let Some((_, condition)) = CONDITIONAL.iter().find(|(conditional, _)| conditional.number == number) {
        return condition;
    }
    let is_in =
        |groups: &[&[Call]]| groups.iter().any(|group| group.iter().any(|call| call.number == number));
    match number {
        _ if is_in(&ALLOWED) => &Rule::Allow,
        _ if is_in(&REFUSED) => &FORBIDDEN,
        _ if Sign::ALL.iter().any(|sign| sign.calls().contains(&number)) => &Rule::Report,
        // What is in no table, and what is in that of hidden arguments.
        _ => &ABSENT,
    }
}

/// What takes another way where memory is counted.
const COUNTED: [(u32, Rule); 7] = [
    (nr::__NR_mmap, Rule::Where(&SHARED_IS_COUNTED)),
    (nr::__NR_shmget, Rule::Where(&SEGMENT_IS_COUNTED)),
    (nr::__NR_memfd_create, ABSENT),
    (nr::__NR_vmsplice, ABSENT),
    (nr::__NR_msgget, ABSENT),
    (nr::__NR_semget, ABSENT),
    (nr::__NR_setsockopt, Rule::Where(&BUFFERS_STAY)),
];

/// Memory of a mapping that is shared and belongs to no file. Huge pages are answered as where none are reserved.
static SHARED_IS_COUNTED: Condition = Condition {
    argument: 3,
    mask: nr::MAP_HUGETLB,
    values: &[0],
    then: Rule::Where(&Condition {
        argument: 3,
        mask: nr::MAP_TYPE | nr::MAP_ANONYMOUS,
        values: &[nr::MAP_SHARED | nr::MAP_ANONYMOUS, nr::MAP_SHARED_VALIDATE | nr::MAP_ANONYMOUS],
        then: Rule::Ask,
        otherwise: Rule::Allow,
    }),
    otherwise: Rule::Refuse(errno::ENOMEM),
};

/// `SHM_HUGETLB`.
const HUGE_SEGMENT: u32 = 0o4000;

/// A segment of System V, unless of huge pages.
static SEGMENT_IS_COUNTED: Condition = Condition {
    argument: 2,
    mask: HUGE_SEGMENT,
    values: &[0],
    then: Rule::Ask,
    otherwise: Rule::Refuse(errno::ENOMEM),
};

/// The buffers of a socket keep their first size, `SO_SNDBUF` and `SO_RCVBUF` of `SOL_SOCKET`: that is no failure, as it is
/// none where the kernel's maximum is lower than what is asked.
static BUFFERS_STAY: Condition = Condition {
    argument: 1,
    mask: ALL_BITS,
    values: &[1],
    then: Rule::Where(&Condition {
        argument: 2,
        mask: ALL_BITS,
        values: &[7, 8],
        then: Rule::Refuse(0),
        otherwise: Rule::Allow,
    }),
    otherwise: Rule::Allow,
};

/// The calls that are made for some of their arguments.
pub const CONDITIONAL: [(Call, Rule); 15] = [
    (call!(__NR_clone), Rule::Where(&NO_NAMESPACE)),
    (call!(__NR_unshare), Rule::Where(&NO_NAMESPACE)),
    (call!(__NR_socket), Rule::Where(&SOCKET)),
    (call!(__NR_socketpair), Rule::Where(&UNIX_ONLY)),
    (call!(__NR_ioctl), Rule::Where(&NO_TERMINAL_INPUT)),
    (call!(__NR_personality), Rule::Where(&HARMLESS_PERSONALITY)),
    (call!(__NR_mknod), Rule::Where(&NO_DEVICE)),
    (call!(__NR_mknodat), Rule::Where(&NO_DEVICE_AT)),
    (call!(__NR_prlimit64), Rule::Where(&NOT_INIT)),
    (call!(__NR_sched_setparam), Rule::Where(&NOT_INIT)),
    (call!(__NR_sched_setscheduler), Rule::Where(&NOT_INIT)),
    (call!(__NR_sched_setaffinity), Rule::Where(&NOT_INIT)),
    (call!(__NR_sched_setattr), Rule::Where(&NOT_INIT)),
    (call!(__NR_setpriority), Rule::Where(&PRIORITY_OF_ONE)),
    (call!(__NR_ioprio_set), Rule::Where(&IO_PRIORITY_OF_ONE)),
];

/// No new namespace: in one of users a command would have every capability. The last is `CLONE_NEWTIME`, which in `clone` is part of the signal number and never set there.
static NO_NAMESPACE: Condition = Condition {
    argument: 0,
    mask: nr::CLONE_NEWNS
        | nr::CLONE_NEWCGROUP
        | nr::CLONE_NEWUTS
        | nr::CLONE_NEWIPC
        | nr::CLONE_NEWUSER
        | nr::CLONE_NEWPID
        | nr::CLONE_NEWNET
        | nr::CLONE_NEWTIME,
    values: &[0],
    then: Rule::Allow,
    otherwise: Rule::Report,
};

mod family {
    pub(super) const UNIX: u32 = 1;
    pub(super) const INET: u32 = 2;
    pub(super) const INET6: u32 = 10;
    pub(super) const NETLINK: u32 = 16;
}

/// Local sockets of any kind; streams and datagrams of the Internet; of netlink only routes, by which libraries list the
/// interfaces before they resolve a name.
static SOCKET: Condition = Condition {
    argument: 0,
    mask: ALL_BITS,
    values: &[family::UNIX],
    then: Rule::Allow,
    otherwise: Rule::Where(&Condition {
        argument: 0,
        mask: ALL_BITS,
        values: &[family::INET, family::INET6],
        then: Rule::Where(&STREAM_OR_DATAGRAM),
        otherwise: Rule::Where(&Condition {
            argument: 0,
            mask: ALL_BITS,
            values: &[family::NETLINK],
            then: Rule::Where(&Condition {
                argument: 2,
                mask: ALL_BITS,
                values: &[0],
                then: Rule::Allow,
                otherwise: FORBIDDEN,
            }),
            otherwise: Rule::Where(&STRANGE_FAMILY),
        }),
    }),
};

/// Families by which programs get at packets, at the host of a virtual machine, at the kernel's cryptography, or at code of
/// the kernel that little else reaches: packets, CAN, TIPC, RxRPC, cryptography, virtual machines, XDP. Old tools try the
/// others one after the other to learn what there is.
static STRANGE_FAMILY: Condition = Condition {
    argument: 0,
    mask: ALL_BITS,
    values: &[17, 29, 30, 33, 38, 40, 44],
    then: Rule::Report,
    otherwise: FORBIDDEN,
};

/// The low bits of the type are the kind, the others flags. Of the protocols only TCP and UDP: any other could make the
/// kernel load a module. A raw socket (3), or the older way to one (10), reads and writes packets of anybody.
static STREAM_OR_DATAGRAM: Condition = Condition {
    argument: 1,
    mask: 0xf,
    values: &[1, 2],
    then: Rule::Where(&Condition {
        argument: 2,
        mask: ALL_BITS,
        values: &[0, 6, 17],
        then: Rule::Allow,
        otherwise: Rule::Refuse(errno::EPROTONOSUPPORT),
    }),
    otherwise: Rule::Where(&Condition {
        argument: 1,
        mask: 0xf,
        values: &[3, 10],
        then: Rule::Report,
        otherwise: FORBIDDEN,
    }),
};

static UNIX_ONLY: Condition = Condition {
    argument: 0,
    mask: ALL_BITS,
    values: &[family::UNIX],
    then: Rule::Allow,
    otherwise: FORBIDDEN,
};

/// `TIOCSTI` types into a terminal, `TIOCLINUX` pastes into one, `TIOCSETD` makes the kernel load a line discipline.
static NO_TERMINAL_INPUT: Condition = Condition {
    argument: 1,
    mask: ALL_BITS,
    values: &[0x5412, 0x541c, 0x5423],
    then: Rule::Report,
    otherwise: Rule::Allow,
};

/// Linux, Linux of 32 bits, either with an old version number, or a question.
static HARMLESS_PERSONALITY: Condition = Condition {
    argument: 0,
    mask: ALL_BITS,
    values: &[0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff],
    then: Rule::Allow,
    otherwise: FORBIDDEN,
};

const FILE_TYPE: u32 = 0xf000;
const CHARACTER_DEVICE: u32 = 0x2000;
const BLOCK_DEVICE: u32 = 0x6000;

static NO_DEVICE: Condition = Condition {
    argument: 1,
    mask: FILE_TYPE,
    values: &[CHARACTER_DEVICE, BLOCK_DEVICE],
    then: FORBIDDEN,
    otherwise: Rule::Allow,
};

static NO_DEVICE_AT: Condition = Condition {
    argument: 2,
    mask: FILE_TYPE,
    values: &[CHARACTER_DEVICE, BLOCK_DEVICE],
    then: FORBIDDEN,
    otherwise: Rule::Allow,
};

/// The first process has the user of the command, so the kernel would let the command change its limits and priority.
static NOT_INIT: Condition =
    Condition { argument: 0, mask: ALL_BITS, values: &[1], then: Rule::Report, otherwise: Rule::Allow };

static SECOND_IS_NOT_INIT: Condition =
    Condition { argument: 1, mask: ALL_BITS, values: &[1], then: Rule::Report, otherwise: Rule::Allow };

/// Of a process or a group, never of a user.
static PRIORITY_OF_ONE: Condition = Condition {
    argument: 0,
    mask: ALL_BITS,
    values: &[0, 1],
    then: Rule::Where(&SECOND_IS_NOT_INIT),
    otherwise: FORBIDDEN,
};

static IO_PRIORITY_OF_ONE: Condition = Condition {
    argument: 0,
    mask: ALL_BITS,
    values: &[1, 2],
    then: Rule::Where(&SECOND_IS_NOT_INIT),
    otherwise: FORBIDDEN,
};
