//! Whose turn it is, and in what state the last one left the guest.

use std::os::fd::OwnedFd;

use ambit_control_groups::{GroupLimits, Usage};
use ambit_sandbox_guest::socket::Descriptors;
use ambit_sandbox_guest::wire::{Response, Volumes};

/// How many hints are given without their answers being read: far fewer than a socket holds.
const HINTS: u32 = 16;

/// What the one execution at a time knows of the guest.
#[derive(Default)]
pub(crate) struct Turn {
    /// The guest was asked to take the volumes of the last command away, and did not answer yet.
    pub(crate) finishing: bool,
    /// How many answers to hints nobody read yet.
    hinted: u32,
    /// What the guest was asked for last.
    asked: Option<Volumes>,
    /// The launcher of the last answer.
    door: Option<OwnedFd>,
    /// The limits that the control group has.
    pub(crate) applied: Option<GroupLimits>,
    /// What the control group counted up to the end of the last command.
    pub(crate) counted: Option<Usage>,
    /// What it counted when everything was ready for the first command, as long as the guest was asked for nothing since.
    pub(crate) untouched: Option<Usage>,
}

impl Turn {
    /// That of a guest whose group has these limits, and counted so much so far.
    pub(crate) fn of(applied: GroupLimits, untouched: Option<Usage>) -> Self {
        Self { applied: Some(applied), untouched, ..Self::default() }
    }

    /// Whether one more hint may be given, which is for these volumes.
    pub(crate) fn may_hint(&mut self, volumes: Volumes) -> bool {
        let may = self.hinted < HINTS;
        if may {
            self.hinted += 1;
            self.forget_the_door(volumes);
        }
        may
    }

    /// The guest is asked for these volumes, and lets go of the launcher that it told of where it had others.
    pub(crate) fn forget_the_door(&mut self, volumes: Volumes) {
        self.asked = Some(volumes);
        self.door = None;
        self.untouched = None;
    }

    /// A command has ended, and the guest is asked for these volumes. The end came after the answers to all hints before it.
    pub(crate) fn begin_anew(&mut self, volumes: Volumes) {
        self.hinted = 1;
        self.forget_the_door(volumes);
    }

    /// A launcher stands ready for these volumes.
    pub(crate) fn stands_ready(&mut self, volumes: Volumes, door: OwnedFd) {
        self.asked = Some(volumes);
        self.door = Some(door);
    }

    /// The launcher that stands ready for these volumes, where the guest has told of it by now; `answer` is what it said next.
    /// Nobody has it afterwards.
    pub(crate) fn door(
        &mut self,
        volumes: &Volumes,
        mut answer: impl FnMut() -> Option<(Response, Descriptors)>,
    ) -> Option<OwnedFd> {
        while self.hinted > 0 {
            let (response, [door, ..]) = answer()?;
            self.hinted -= 1;
            self.door = door.filter(|_| matches!(response, Response::Prepared { .. }));
        }
        self.door.take().filter(|_| self.asked.as_ref() == Some(volumes))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use ambit_sandbox_guest::wire::{Failed, Sizes, TREE_NAME_BYTES};

    use super::*;

    const SIZES: Sizes = Sizes { disk_bytes: 4096, disk_files: 1 };
    const ONE: Volumes = Volumes { tree: [b'1'; TREE_NAME_BYTES], sizes: SIZES, declared: 0 };
    const OTHER: Volumes = Volumes { declared: 1, ..ONE };

    fn door() -> OwnedFd {
        std::fs::File::open("/dev/null").unwrap().into()
    }

    fn prepared(door: OwnedFd) -> Option<(Response, Descriptors)> {
        let mut beside = Descriptors::default();
        beside[0] = Some(door);
        Some((Response::Prepared { copied: false }, beside))
    }

    #[test]
    fn a_launcher_is_known_once_the_last_hint_is_answered_and_has_one_command() {
        let mut turn = Turn::default();
        assert!(turn.may_hint(OTHER) && turn.may_hint(ONE));
        let (first, last) = (door(), door());
        let number = last.as_raw_fd();
        let mut answers = vec![prepared(first), None, prepared(last)].into_iter();
        assert!(turn.door(&ONE, || answers.next().unwrap()).is_none(), "the last hint is not answered yet");
        let known = turn.door(&ONE, || answers.next().unwrap());
        assert_eq!(known.map(|door| door.as_raw_fd()), Some(number));
        assert!(turn.door(&ONE, || None).is_none());
    }

    #[test]
    fn a_launcher_is_not_taken_for_one_on_other_volumes_or_of_an_earlier_command() {
        let mut turn = Turn::default();
        turn.stands_ready(ONE, door());
        assert!(turn.door(&OTHER, || None).is_none());
        turn.stands_ready(ONE, door());
        turn.begin_anew(ONE);
        assert!(turn.door(&ONE, || None).is_none());
        let failed = Failed { step: ambit_sandbox_guest::Step::Workspace, errno: 5 };
        assert!(turn.door(&ONE, || Some((Response::Failed(failed), Descriptors::default()))).is_none());
        turn.stands_ready(ONE, door());
        assert!(turn.door(&ONE, || None).is_some());
    }

    #[test]
    fn so_many_hints_are_given_and_no_more() {
        let mut turn = Turn::default();
        assert_eq!((0..2 * HINTS).filter(|_| turn.may_hint(ONE)).count(), HINTS as usize);
    }
}
