//! The system-call filter of every command: the policy of `ambit-system-calls`, compiled to classic BPF.
//!
//! The kernel walks a filter once for every call number when it is loaded, so the cost of loading is the length of the
//! paths through it. The numbers are therefore searched as a balanced tree of ranges, not as a list: the same policy
//! loads an order of magnitude faster.

#[cfg(target_arch = "x86_64")]
mod compile;

use ambit_ports::sandbox::Enforcer;
#[cfg(target_arch = "x86_64")]
use ambit_system_calls::Sharing;

/// The instructions as the kernel takes them: eight bytes each. Which they are depends on what bounds the memory of the
/// whole.
#[cfg(target_arch = "x86_64")]
pub(crate) fn program(memory: Enforcer) -> Vec<u8> {
    let sharing = match memory {
        Enforcer::CgroupV1 | Enforcer::CgroupV2 => Sharing::Free,
        Enforcer::RlimitPerProcess => Sharing::Counted,
    };
    compile::program(sharing).iter().flat_map(|instruction| instruction.to_bytes()).collect()
}

/// No filter: there is no guest for this processor family that could install it.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const fn program(_: Enforcer) -> Vec<u8> {
    Vec::new()
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;
