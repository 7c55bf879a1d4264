//! Whose child a process is.

use ambit_ports::sandbox::Maker;

use crate::identity::ProcessIdentity;

/// Who made a process: the first of its ancestors that is no member of a sandbox itself.
pub fn maker_of_process(pid: i32, is_member: impl Fn(i32) -> bool) -> Maker {
    let mut pid = pid;
    while is_member(pid) {
        match ProcessIdentity::parent_of(pid) {
            Some(parent) => pid = parent,
            None => return Maker::Unknown,
        }
    }
    // Whoever lost its parent is given to the first process of the machine, which makes no sandboxes unless it is this one.
    match pid {
        0 => Maker::Unknown,
        // One that is ending has lost what would tell whether it is a member, and not yet its children.
        _ if !ProcessIdentity::has_memory(pid) => Maker::Unknown,
        1 if std::process::id() != 1 => Maker::Gone,
        _ => Maker::Lives,
    }
}
