//! What holds every process of a container, so that all of them can be counted and ended.

use ambit_control_groups::Usage;

use crate::cell::Cell;
use crate::groups::Groups;

/// By what a container is held.
pub(crate) enum Hold {
    /// Control groups: it was made by root.
    Groups(Groups),
    /// A process namespace: it was made by an ordinary user.
    Cell(Cell),
}

impl Hold {
    /// Kills every process.
    pub(crate) fn kill(&self) {
        match self {
            Self::Groups(groups) => drop(groups.kill()),
            Self::Cell(cell) => cell.kill(),
        }
    }

    /// What they used so far.
    pub(crate) fn usage(&self) -> Usage {
        match self {
            Self::Groups(groups) => groups.inner.usage(),
            Self::Cell(cell) => cell.usage(),
        }
    }

    /// The processor time that they used so far.
    pub(crate) fn cpu_us(&self) -> Option<u64> {
        match self {
            Self::Groups(groups) => groups.inner.cpu_us(),
            Self::Cell(cell) => cell.cpu_us(),
        }
    }
}
