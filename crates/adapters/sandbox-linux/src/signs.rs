//! What a command was seen to try, from what the guest and the kernel counted.

use std::collections::{BTreeMap, BTreeSet};

use ambit_gates::ResourceLimit;
use ambit_ports::sandbox::{EscapeSigns, RefusedCall};
use ambit_system_calls::{Counts, Sign};
use ambit_verdict::Facts;

/// The signs, from how often each class of calls was refused.
pub(crate) fn of(counts: Counts, facts: &Facts, breaches: &BTreeSet<ResourceLimit>) -> EscapeSigns {
    let refused_calls: BTreeMap<RefusedCall, u32> = Sign::ALL
        .into_iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(sign, count)| (class(sign), count))
        .collect();
    let limit_hits = breaches.iter().map(|limit| (*limit, facts.hits(*limit).max(1))).collect();
    EscapeSigns { refused_calls, limit_hits }
}

const fn class(sign: Sign) -> RefusedCall {
    match sign {
        Sign::Namespace => RefusedCall::Namespace,
        Sign::Mount => RefusedCall::Mount,
        Sign::Module => RefusedCall::Module,
        Sign::Keyring => RefusedCall::Keyring,
        Sign::Bpf => RefusedCall::Bpf,
        Sign::Ptrace => RefusedCall::Ptrace,
        Sign::RawSocket => RefusedCall::RawSocket,
        Sign::Clock => RefusedCall::Clock,
        Sign::Other => RefusedCall::Other,
    }
}
