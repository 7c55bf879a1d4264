use std::collections::{BTreeMap, BTreeSet};

use ambit_ids::{Digest, ReceiptId, UnixMs};

use super::{ArtifactReference, ChecklistItem, EventReference, ItemStanding, NetworkReach, Resolution};
use crate::chain::Link;
use crate::v1::{Body, EffectV1, ObservationV1, OutcomeV1, PinsV1, RunBody};
use crate::{eligibility, fold};

/// The checklist of a run from its verified links, each item once and in the order of [`ChecklistItem::ALL`].
///
/// `reach` answers what a measured manifest says of the network, or nothing where it cannot be read.
pub fn checklist(links: &[Link], reach: impl Fn(Digest) -> Option<NetworkReach>) -> Vec<Resolution> {
    let run = Run { links };
    ChecklistItem::ALL
        .iter()
        .map(|item| match item {
            ChecklistItem::Pinned => run.pinned(),
            ChecklistItem::Visible => run.visible(),
            ChecklistItem::Authorized => run.authorized(),
            ChecklistItem::Isolated => run.isolated(),
            ChecklistItem::Network => run.network(&reach),
            ChecklistItem::Kept => run.kept(),
            ChecklistItem::Budgets => run.budgets(),
            ChecklistItem::Approval => run.approval(),
            ChecklistItem::PreviewReady => run.preview_ready(),
        })
        .collect()
}

/// What shows an item, as it is gathered.
struct Evidence {
    item: ChecklistItem,
    events: Vec<EventReference>,
    artifacts: Vec<ArtifactReference>,
    missing: Vec<String>,
}

impl Evidence {
    const fn of(item: ChecklistItem) -> Self {
        Self { item, events: Vec::new(), artifacts: Vec::new(), missing: Vec::new() }
    }

    fn event(&mut self, link: &Link, body: &RunBody) {
        self.events.push(EventReference { seq: link.record.seq, kind: body.kind(), leaf: link.leaf });
    }

    fn artifact(&mut self, what: &'static str, digest: Digest) {
        let reference = ArtifactReference { what, digest };
        if !self.artifacts.contains(&reference) {
            self.artifacts.push(reference);
        }
    }

    fn requires(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.missing.push(otherwise());
        }
    }

    /// Resolved unless something is missing.
    fn resolved(self) -> Resolution {
        self.standing(ItemStanding::Resolved)
    }

    /// Not exercised where no record shows it, unless something is missing.
    fn resolved_if_exercised(self) -> Resolution {
        let standing =
            if self.events.is_empty() { ItemStanding::NotExercised } else { ItemStanding::Resolved };
        self.standing(standing)
    }

    fn standing(self, otherwise: ItemStanding) -> Resolution {
        let standing = if self.missing.is_empty() { otherwise } else { ItemStanding::Unresolved };
        let Self { item, events, artifacts, missing } = self;
        Resolution { item, title: item.title(), standing, events, artifacts, missing }
    }
}

/// The records of a run.
struct Run<'a> {
    links: &'a [Link],
}

impl<'a> Run<'a> {
    fn bodies(&self) -> impl Iterator<Item = (&'a Link, &'a RunBody)> {
        self.links.iter().filter_map(|link| match &link.record.body {
            Body::Run(body) => Some((link, body.as_ref())),
            Body::Project(_) => None,
        })
    }

    fn pins(&self) -> Option<&'a PinsV1> {
        self.bodies().find_map(|(_, body)| match body {
            RunBody::Admitted { pins, .. } => Some(pins.as_ref()),
            _ => None,
        })
    }

    fn is_over(&self) -> bool {
        self.bodies().any(|(_, body)| matches!(body, RunBody::RunTerminal { .. }))
    }

    fn pinned(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Pinned);
        let admitted = self.bodies().find(|(_, body)| matches!(body, RunBody::Admitted { .. }));
        let (Some((link, body)), Some(pins)) = (admitted, self.pins()) else {
            found.requires(false, || "the run was never admitted".to_owned());
            return found.resolved();
        };
        found.event(link, body);
        found.artifact("blueprint", pins.blueprint_digest);
        found.artifact("base tree", pins.base_tree);
        found.artifact("policy set", pins.policy);
        found.artifact("profile", pins.profile_digest);
        found.artifact("command catalog", pins.catalog);
        found.requires(link.record.project.is_some(), || "the record names no project".to_owned());
        found.resolved()
    }

    fn visible(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Visible);
        for (link, body) in self.bodies() {
            match body {
                RunBody::PlanAccepted { .. }
                | RunBody::ApprovalRequested { .. }
                | RunBody::RunStopping { .. }
                | RunBody::RunTerminal { .. } => found.event(link, body),
                RunBody::PatchApplied { observation: ObservationV1::Patch(patch), .. } => {
                    found.event(link, body);
                    found.artifact("patch", patch.canonical);
                }
                RunBody::GateFinished { observation: ObservationV1::Gate(gate), .. } => {
                    found.event(link, body);
                    found.artifact("gate", gate.artifact);
                }
                _ => {}
            }
        }
        found.requires(self.is_over(), not_over);
        found.resolved()
    }

    fn authorized(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Authorized);
        if let Some(pins) = self.pins() {
            found.artifact("policy set", pins.policy);
        }
        let mut decided = BTreeSet::new();
        for (link, body) in self.bodies() {
            match body {
                RunBody::ToolDecided(call) => {
                    found.event(link, body);
                    found.artifact("request", call.decision.input_digest);
                    decided.insert(call.turn);
                }
                RunBody::ToolEffect { turn, .. }
                | RunBody::PatchApplied { turn, .. }
                | RunBody::GateFinished { turn, .. }
                | RunBody::ToolUnknown { turn, .. } => found.requires(decided.contains(turn), || {
                    format!("record {} is an effect that no decision came before", link.record.seq)
                }),
                _ => {}
            }
        }
        found.resolved_if_exercised()
    }

    fn isolated(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Isolated);
        // A sandbox that was lost, or given back for a fresh one, is destroyed with the next that ends.
        let mut is_held = false;
        for (link, body) in self.bodies() {
            match body {
                RunBody::LeaseAllocated { manifest, .. } => {
                    found.event(link, body);
                    found.artifact("sandbox manifest", *manifest);
                    is_held = true;
                }
                RunBody::SandboxDestroyed { receipt } => {
                    found.event(link, body);
                    found.artifact("destruction receipt", *receipt);
                    is_held = false;
                }
                RunBody::CleanupFailed { code } => {
                    found.event(link, body);
                    found.requires(false, || format!("the sandbox could not be removed: {code}"));
                }
                _ => {}
            }
        }
        found.requires(!is_held, || "a sandbox is not proven to be gone".to_owned());
        found.resolved_if_exercised()
    }

    fn network(&self, reach: &impl Fn(Digest) -> Option<NetworkReach>) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Network);
        for (link, body) in self.bodies() {
            let RunBody::LeaseAllocated { manifest, .. } = body else { continue };
            found.event(link, body);
            found.artifact("sandbox manifest", *manifest);
            match reach(*manifest) {
                Some(NetworkReach::Denied) => {}
                Some(NetworkReach::Open) => {
                    found.requires(false, || format!("the manifest {manifest} leaves a network open"));
                }
                None => found.requires(false, || format!("the manifest {manifest} cannot be read")),
            }
        }
        found.resolved_if_exercised()
    }

    fn kept(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Kept);
        let mut is_exported = false;
        for (link, body) in self.bodies() {
            match body {
                RunBody::ToolDecided(call) if !matches!(call.outcome, OutcomeV1::Perform) => {
                    found.event(link, body);
                }
                RunBody::PlanRejected { answer, .. } | RunBody::ProposalRejected { answer, .. } => {
                    found.event(link, body);
                    found.artifact("rejected answer", *answer);
                }
                RunBody::PatchApplied { .. }
                | RunBody::GateFinished { .. }
                | RunBody::ToolUnknown { .. }
                | RunBody::HiddenCheckFinished(_) => found.event(link, body),
                RunBody::ToolEffect { observation: ObservationV1::Failed { .. }, .. } => {
                    found.event(link, body);
                }
                RunBody::ArtifactExported { artifact } => {
                    found.event(link, body);
                    found.artifact("trace", *artifact);
                    is_exported = true;
                }
                _ => {}
            }
        }
        found.requires(is_exported, || "the trace was not exported".to_owned());
        found.resolved()
    }

    fn budgets(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Budgets);
        let mut open = BTreeSet::new();
        for (link, body) in self.bodies() {
            match body {
                RunBody::Admitted { .. } | RunBody::BudgetExhausted { .. } => found.event(link, body),
                RunBody::TurnOpened { turn, .. } => {
                    open.insert(*turn);
                }
                RunBody::BudgetCharged { turn, .. } => {
                    found.event(link, body);
                    open.remove(turn);
                }
                _ => {}
            }
        }
        for turn in open {
            found.requires(false, || format!("turn {turn} was not charged"));
        }
        found.resolved()
    }

    fn approval(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::Approval);
        // Each receipt with the moment until which it can be used; it goes with its use.
        let mut usable: BTreeMap<&ReceiptId, UnixMs> = BTreeMap::new();
        for (link, body) in self.bodies() {
            match body {
                RunBody::ApprovalRequested { digest, .. } => {
                    found.event(link, body);
                    found.artifact("proposal", *digest);
                }
                RunBody::ApprovalDecided { approved, receipt, receipt_expires_ms, evidence, .. } => {
                    found.event(link, body);
                    found.artifact("signed decision", *evidence);
                    if *approved {
                        usable.insert(receipt, *receipt_expires_ms);
                    }
                }
                RunBody::ApprovalConsumed { receipt, .. } => {
                    found.event(link, body);
                    let until = usable.remove(receipt);
                    let is_in_time = until.is_some_and(|until| {
                        link.record.ts.parse::<UnixMs>().is_ok_and(|used| used <= until)
                    });
                    found.requires(is_in_time, || {
                        format!("record {} uses a receipt that was not to be used", link.record.seq)
                    });
                }
                RunBody::ApprovalVoided { .. } => found.event(link, body),
                RunBody::ReceiptVoided { receipt, .. } => {
                    found.event(link, body);
                    usable.remove(receipt);
                }
                RunBody::ToolDecided(call) if call.decision.effect == EffectV1::NeedsApproval => {
                    found.event(link, body);
                }
                _ => {}
            }
        }
        found.resolved_if_exercised()
    }

    fn preview_ready(&self) -> Resolution {
        let mut found = Evidence::of(ChecklistItem::PreviewReady);
        for (link, body) in self.bodies() {
            if let RunBody::RevisionEligible { tree, .. } | RunBody::RevisionIneligible { tree, .. } = body {
                found.event(link, body);
                found.artifact("tree", *tree);
            }
        }
        match fold(self.links).map(|state| eligibility(&state)) {
            Ok(Ok(_)) => {}
            Ok(Err(why)) => found.requires(false, || why.to_string()),
            Err(_) => found.requires(false, || "the records do not make a run".to_owned()),
        }
        found.resolved()
    }
}

fn not_over() -> String {
    "the run is not over".to_owned()
}
