use std::collections::BTreeSet;

use ambit_ids::{GateId, UnixMs};

use super::{ArtifactKind, Layout, Pattern, Rule, Step};
use crate::envelope::ReadError;
use crate::key::PublicKey;
use crate::wording::Name;

/// The step in which patches make the revision.
pub const PATCH_STEP: &str = "patch";
/// What the tree of a revision is called as an artifact. No file is: a path does not begin so.
pub const TREE: &str = "/tree";
/// What stands before the name of a gate in the name of its step.
pub const GATE_STEP: &str = "gate-";

/// What a revision of a run must have gone through.
#[derive(Clone, Debug)]
pub struct RunLayout {
    /// Until when the layout counts: a whole second.
    pub expires: UnixMs,
    /// Who says what patches made.
    pub tool_broker: PublicKey,
    /// Who says on what gates passed.
    pub evaluator: PublicKey,
    /// The gates.
    pub gates: Vec<GateId>,
}

impl RunLayout {
    /// The layout: patches make the revision, and each gate takes exactly what they made and makes nothing. The tree is required
    /// of each: what is matched with nothing would fit anything.
    ///
    /// # Errors
    /// [`ReadError::Content`] where no link could fit it.
    pub fn layout(&self) -> Result<Layout, ReadError> {
        let named =
            |name: String| Name::new(name).map_err(|_| ReadError::Content("a gate has no name for a step"));
        let (patch, tree) = (named(PATCH_STEP.to_owned())?, named(TREE.to_owned())?);
        let (require, end) = (|| Rule::Require(tree.clone()), Rule::disallow_all);
        let mut steps = vec![Step {
            name: patch.clone(),
            keys: BTreeSet::from([self.tool_broker.id()]),
            threshold: 1,
            materials: vec![require(), Rule::Allow(Pattern::all()), end()],
            products: vec![require(), Rule::Allow(Pattern::all()), end()],
        }];
        for gate in &self.gates {
            let pattern = Pattern::all();
            let taken = Rule::Match { pattern, with: ArtifactKind::Products, from: patch.clone() };
            steps.push(Step {
                name: named(format!("{GATE_STEP}{gate}"))?,
                keys: BTreeSet::from([self.evaluator.id()]),
                threshold: 1,
                materials: vec![require(), taken, end()],
                products: vec![end()],
            });
        }
        Layout::new(self.expires, String::new(), [self.tool_broker, self.evaluator], steps)
    }
}
