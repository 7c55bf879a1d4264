//! The user outside that a sandbox's user is.

use std::fs;

use ambit_staging::Owner;

/// A range that no distribution gives to people, services or containers (see systemd's table of user ids).
const UNUSED: (u32, u32) = (0x7000_0000, 0x7fff_ffff);

/// The user for a new sandbox: as root one of its own, picked by `pick`; otherwise this process's.
pub(crate) fn outer(pick: u32) -> Owner {
    let (uid, gid) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let own = Owner { uid, gid, foreign: false };
    if uid != 0 {
        return own;
    }
    let mapped = |path| fs::read_to_string(path).unwrap_or_default();
    match pick_id(&mapped("/proc/self/uid_map"), &mapped("/proc/self/gid_map"), pick) {
        Some(id) => Owner { uid: id, gid: id, foreign: true },
        None => own,
    }
}

/// An id that exists as user and as group in this process's own user namespace.
fn pick_id(uid_map: &str, gid_map: &str, pick: u32) -> Option<u32> {
    let (first, last) = [uid_map, gid_map].iter().try_fold((1, u32::MAX - 1), |range, map| {
        let (low, high) = highest_range(map)?;
        Some((low.max(range.0), high.min(range.1)))
    })?;
    let (low, high) = if first <= UNUSED.0 && UNUSED.1 <= last {
        UNUSED
    } else {
        (first.max(last.saturating_sub(4095)), last)
    };
    let size = high.checked_sub(low)?.checked_add(1)?;
    Some(low + pick % size)
}

/// The range of the mapping that reaches highest: first and last id inside.
fn highest_range(map: &str) -> Option<(u32, u32)> {
    map.lines()
        .filter_map(|line| {
            let mut numbers = line.split_whitespace().map(str::parse::<u32>);
            let (inside, _, count) = (numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?);
            Some((inside.max(1), inside.checked_add(count.checked_sub(1)?)?))
        })
        .filter(|(low, high)| low <= high)
        .max_by_key(|(_, high)| *high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_gives_every_sandbox_a_user_that_exists() {
        let whole = "         0          0 4294967295\n";
        assert_eq!(pick_id(whole, whole, 5), Some(0x7000_0005));
        let container = "0 100000 65536\n";
        assert_eq!(pick_id(container, container, 4096 + 7), Some(61_440 + 7));
        let alone = "0 1000 1\n";
        assert_eq!(pick_id(alone, alone, 5), None);
        assert_eq!(pick_id("", "", 5), None);
        assert_eq!(pick_id(whole, "0 0 1\n1 100000 65536\n", 0), Some(61_441));
    }
}
