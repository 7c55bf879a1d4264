//! What is left of sandboxes that nobody owns any more: found, told, and removed where it is provably ownerless.

use std::collections::BTreeMap;

use ambit_ids::{BackendId, LeaseId};
use ambit_ports::sandbox::{Found, LeakScan, Maker, SandboxError, Surface, Unseen};
use serde::Serialize;

/// How things stand with the run of a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// It goes on, driven by somebody or waiting to be.
    Going,
    /// It is over.
    Over,
    /// There is no such run.
    Absent,
}

/// What something that was found is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// A run that goes on, or a process that lives, has it. It is never touched.
    InUse,
    /// Nobody has it any more, and that is proven: the process that made it is dead, and no run that goes on owns it.
    Ownerless,
    /// Its run is over, and the process that made it lives: it should have removed it.
    LeftBehind,
    /// Nobody is known to have it, and nobody is proven not to. It is told, and left alone.
    Unproven,
}

impl Standing {
    /// What a thing is by its maker and the run of its lease.
    #[must_use]
    pub const fn of(maker: Maker, owner: Option<Owner>) -> Self {
        match (owner, maker) {
            (Some(Owner::Going), _) | (Some(Owner::Absent) | None, Maker::Lives) => Self::InUse,
            (Some(Owner::Over), Maker::Lives) => Self::LeftBehind,
            (Some(Owner::Over | Owner::Absent) | None, Maker::Gone) => Self::Ownerless,
            (Some(Owner::Over | Owner::Absent) | None, Maker::Unknown) => Self::Unproven,
        }
    }
}

/// Something that is left.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Leak {
    /// What.
    #[serde(flatten)]
    pub found: Found,
    /// How things stand with it.
    pub standing: Standing,
    /// Why it could not be removed, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// What a scan found, after whatever it removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LeakReport {
    /// The backend.
    pub backend: BackendId,
    /// The surfaces that were looked at.
    pub looked_at: Vec<Surface>,
    /// What was not looked at, with the reasons.
    pub not_looked_at: Vec<Unseen>,
    /// How many things are in use. They were not touched.
    pub in_use: usize,
    /// What was there before and is not any more, by the second look.
    pub removed: Vec<Found>,
    /// What is left, by the last look.
    pub outstanding_leaks: Vec<Leak>,
}

/// Looks for what is left, and with `sweep` removes what is provably ownerless and looks again. Only what the last look does
/// not find counts as removed, whatever the removal answered.
///
/// `owner` says how things stand with the run of a lease. It is asked after the look, so that a run that began meanwhile
/// is known; where it cannot tell, it says that the run goes on.
///
/// # Errors
/// [`SandboxError`] where the machine could not be looked at.
pub async fn scan(
    port: &dyn LeakScan,
    owner: impl AsyncFn(&LeaseId) -> Owner,
    sweep: bool,
) -> Result<LeakReport, SandboxError> {
    let (mut refusals, mut tried) = (BTreeMap::new(), Vec::new());
    if sweep {
        let mut standings = Standings::default();
        for found in port.survey_everywhere().await?.found {
            if standings.of(&found, &owner).await == Standing::Ownerless {
                tried.push(found);
            }
        }
        // Processes come before the groups that they are in, and these before the records that name them.
        tried.sort();
        for found in &tried {
            if let Err(error) = port.remove(found).await {
                refusals.insert(name_of(found), error.to_string());
            }
        }
    }
    let (last, mut standings) = (port.survey_everywhere().await?, Standings::default());
    let is_there = |gone: &Found| last.found.iter().any(|found| name_of(found) == name_of(gone));
    tried.retain(|tried| !is_there(tried));
    let (mut in_use, mut outstanding_leaks) = (0, Vec::new());
    for found in last.found {
        match standings.of(&found, &owner).await {
            Standing::InUse => in_use += 1,
            standing => {
                let refused = refusals.remove(&name_of(&found));
                outstanding_leaks.push(Leak { found, standing, refused });
            }
        }
    }
    Ok(LeakReport {
        backend: port.backend_id().clone(),
        looked_at: last.looked_at,
        not_looked_at: last.not_looked_at,
        in_use,
        removed: tried,
        outstanding_leaks,
    })
}

fn name_of(found: &Found) -> (Surface, String) {
    (found.surface, found.reference.clone())
}

/// What was learned of the runs of leases, each asked for once.
#[derive(Default)]
struct Standings(BTreeMap<LeaseId, Owner>);

impl Standings {
    async fn of(&mut self, found: &Found, owner: &impl AsyncFn(&LeaseId) -> Owner) -> Standing {
        let Some(lease) = &found.lease else { return Standing::of(found.maker, None) };
        let owner = match self.0.get(lease) {
            Some(owner) => *owner,
            None => *self.0.entry(lease.clone()).or_insert(owner(lease).await),
        };
        Standing::of(found.maker, Some(owner))
    }
}
