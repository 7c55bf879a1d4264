//! Whose turn it is, and in what state the last one left the guest.

use std::os::fd::OwnedFd;

use ambit_control_groups::{GroupLimits, Usage};
use ambit_sandbox_guest::wire::{Response, Volumes};

use crate::guest::Guest;

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
}

impl Turn {
    /// That of a guest whose group has these limits.
    pub(crate) fn of(applied: GroupLimits) -> Self {
        Self { applied: Some(applied), ..Self::default() }
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

    /// The launcher that stands ready for these volumes, where the guest has told of it by now. Nobody has it afterwards.
    pub(crate) fn door(&mut self, guest: &Guest, volumes: &Volumes) -> Option<OwnedFd> {
        while self.hinted > 0 {
            let (response, [door, ..]) = guest.receive_now()?;
            self.hinted -= 1;
            self.door = door.filter(|_| matches!(response, Response::Prepared { .. }));
        }
        self.door.take().filter(|_| self.asked.as_ref() == Some(volumes))
    }
}
