//! Things whose name starts with the number of the process that made them, and a `-`. Where the name goes on with that
//! process's [mark](crate::ProcessIdentity::own_mark), no other process can be taken for it.

use ambit_ports::sandbox::Maker;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::identity::ProcessIdentity;

/// Who made a thing of this name. Nothing is known of one that was made in another process namespace: the number says
/// nothing here.
#[must_use]
pub fn maker_of_name(name: &str) -> Maker {
    let Some(number) = number(name) else { return Maker::Unknown };
    match name.split_once('+') {
        Some((_, mark)) => {
            ProcessIdentity::of_mark(number, mark).map_or(Maker::Unknown, |identity| identity.maker())
        }
        None if is_there(number) => Maker::Lives,
        None => Maker::Gone,
    }
}

/// Whether the process may live that a thing of this name tells of: it does, or nobody can tell. A name without a number
/// tells of none.
#[must_use]
pub fn is_maker_alive(name: &str) -> bool {
    number(name).is_some() && maker_of_name(name) != Maker::Gone
}

fn is_there(number: i32) -> bool {
    Pid::from_raw(number).is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

fn number(name: &str) -> Option<i32> {
    name.split('-').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whether_its_maker_lives() {
        let own = format!("{}-1", std::process::id());
        assert_eq!(maker_of_name(&own), Maker::Lives);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let (gone, _) = (format!("{}-1", child.id()), child.wait().unwrap());
        assert_eq!(maker_of_name(&gone), Maker::Gone);
        for unknown in ["", "control-plane", "-1", "1x-2"] {
            assert_eq!(maker_of_name(unknown), Maker::Unknown, "{unknown:?}");
            assert!(!is_maker_alive(unknown), "{unknown:?}");
        }
    }

    #[test]
    fn a_mark_tells_of_one_process_alone() {
        let (own, mark) = (std::process::id(), ProcessIdentity::own_mark());
        let [namespace, start, boot] = mark[1..].split('+').collect::<Vec<_>>().try_into().unwrap();
        let of = |mark: &str| maker_of_name(&format!("{own}-7-some.thing{mark}"));
        assert_eq!((of(mark), of(&format!("{mark}-outer"))), (Maker::Lives, Maker::Lives));
        assert_eq!(
            of(&format!("+{namespace}+{start}1+{boot}")),
            Maker::Gone,
            "another process had the number"
        );
        assert_eq!(
            of(&format!("+{namespace}+{start}+00000000")),
            Maker::Gone,
            "the machine was started since"
        );
        let elsewhere = format!("+{namespace}1+{start}+{boot}");
        assert_eq!(of(&elsewhere), Maker::Unknown, "the number is of another namespace");
        // The number of nobody here may be somebody's there.
        let nobody = format!("{}-7{elsewhere}", i32::MAX);
        assert!(is_maker_alive(&nobody) && !is_maker_alive(&format!("{}-7", i32::MAX)));
        for cut in ["+", "+f", "+f+1", "+f+1+abc", "+x+1+01234567"] {
            assert_eq!(of(cut), Maker::Unknown, "{cut:?}");
        }
    }
}
