//! What two revisions have to show for themselves, side by side: the results of their gates, and the acceptance cases
//! that these speak for.
//!
//! A result counts for exactly the tree that it was found on. So a revision is judged here by what its run's gates said of
//! the tree that the run ended with, or stands at now, and by nothing that was said of an earlier tree.

mod cases;
mod gates;

use ambit_blueprint::AcceptanceCase;
use ambit_ids::GateId;

pub use cases::{CaseComparison, CaseStanding, Evidence, compare_cases};
pub use gates::{GateComparison, GateStanding, HiddenStanding, compare_gates};

use crate::state::Dossier;

/// A revision with what judges it.
#[derive(Clone, Copy, Debug)]
pub enum Judged<'a> {
    /// It was brought in from outside, and no gate of a run ever ran on it.
    Imported,
    /// A run opened it.
    ByRun {
        /// What the run accumulated.
        dossier: &'a Dossier,
        /// The acceptance cases of its blueprint, in their order. What a run is pinned to does not hold their statements.
        cases: &'a [AcceptanceCase],
    },
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Side<T> {
    /// The revision was imported: nothing of the kind was ever there.
    Imported,
    /// The revision's blueprint does not name it.
    NotNamed,
    /// Where it stands.
    Stands(T),
}

/// What became of a gate or a case from the one revision to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// There is less to show for it.
    Lost,
    /// It stands in the blueprint before alone, so nothing speaks for it any more, and nothing has to.
    Dropped,
    /// It stands otherwise, and neither better nor worse.
    Otherwise,
    /// It stands in the blueprint after alone.
    New,
    /// There is more to show for it.
    Gained,
    /// It stands as before.
    Same,
}

impl Change {
    /// The change as views spell it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Dropped => "dropped",
            Self::Otherwise => "otherwise",
            Self::New => "new",
            Self::Gained => "gained",
            Self::Same => "same",
        }
    }
}

impl<T> Side<T> {
    /// Where it stands, if it stands anywhere.
    #[must_use]
    pub const fn standing(&self) -> Option<&T> {
        match self {
            Self::Stands(standing) => Some(standing),
            Self::Imported | Self::NotNamed => None,
        }
    }

    /// The change from one side to the other. `worth` is how much a standing has to show, an import having nothing.
    fn change<W: Ord + Default>(&self, after: &Self, worth: impl Fn(&T) -> W) -> Change
    where
        T: PartialEq,
    {
        let worth_of = |side: &Self| side.standing().map_or_else(W::default, &worth);
        match (self, after) {
            (Self::NotNamed, Self::Stands(_)) => Change::New,
            (Self::Stands(_), Self::NotNamed) => Change::Dropped,
            _ => match worth_of(self).cmp(&worth_of(after)) {
                std::cmp::Ordering::Less => Change::Gained,
                std::cmp::Ordering::Greater => Change::Lost,
                std::cmp::Ordering::Equal => Change::Same,
            },
        }
    }
}

/// The names of both, in the order of the blueprint after, and then of what stands in the one before alone.
fn names<'a, T: PartialEq>(
    before: impl Iterator<Item = &'a T>,
    after: impl Iterator<Item = &'a T>,
) -> Vec<&'a T> {
    let mut names: Vec<&T> = after.collect();
    for name in before {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

impl<'a> Judged<'a> {
    const fn dossier(self) -> Option<&'a Dossier> {
        match self {
            Self::Imported => None,
            Self::ByRun { dossier, .. } => Some(dossier),
        }
    }

    fn gate_ids(self) -> impl Iterator<Item = &'a GateId> {
        self.dossier().into_iter().flat_map(|dossier| dossier.pins.gates.iter().map(|gate| &gate.id))
    }
}
