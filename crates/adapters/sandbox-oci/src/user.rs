//! The user that a container's processes are.

use std::fs;

use ambit_staging::Owner;

/// A range that no distribution gives to people, services or containers (see systemd's table of user ids).
const UNUSED: (u32, u32) = (0x7000_0000, 0x7fff_ffff);
/// How many users at the end of a smaller range are taken for containers.
const LAST: u32 = 4096;

/// The user for a lease: one of its own, picked by `pick`, or this process's, where it can give nobody another one.
pub(crate) fn pick(pick: u32) -> Owner {
    let (uid, gid) = (rustix::process::geteuid(), rustix::process::getegid());
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    let chosen = || choose(&read("/proc/self/uid_map"), &read("/proc/self/gid_map"), pick);
    match uid.is_root().then(chosen).flatten() {
        Some(id) => Owner { uid: id, gid: id, foreign: true },
        None => Owner { uid: uid.as_raw(), gid: gid.as_raw(), foreign: false },
    }
}

/// Whether this process makes containers as an ordinary user does.
pub(crate) fn is_ordinary() -> bool {
    !pick(0).foreign
}

/// An id that exists as user and as group in this process's own user namespace.
fn choose(uid_map: &str, gid_map: &str, pick: u32) -> Option<u32> {
    let last = last_id(uid_map)?.min(last_id(gid_map)?);
    let (low, high) = if last >= UNUSED.1 { UNUSED } else { (last.saturating_sub(LAST - 1).max(1), last) };
    let size = high.checked_sub(low)?.checked_add(1)?;
    Some(low + pick % size)
}

/// The highest id of a map, where the range that it ends has room for more than root.
fn last_id(map: &str) -> Option<u32> {
    map.lines()
        .filter_map(|line| {
            let mut numbers = line.split_whitespace().map(str::parse::<u32>);
            let (inside, _, count) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
            (count >= LAST).then(|| inside.checked_add(count - 1)).flatten()
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lease_gets_a_user_that_exists_or_none() {
        let whole = "         0          0 4294967295\n";
        assert_eq!(choose(whole, whole, 5), Some(0x7000_0005));
        let container = "0 100000 65536\n";
        assert_eq!(choose(container, container, 4096 + 7), Some(61_440 + 7));
        for alone in ["0 1000 1\n", ""] {
            assert_eq!(choose(alone, whole, 5), None);
        }
    }
}
