//! Every break that a test records still fits its file, so that it can be replayed.

use super::finding::Finding;
use crate::requirements::proofs;
use crate::workspace::Workspace;

pub(super) fn findings(workspace: &Workspace) -> Vec<Finding> {
    let collected = proofs::collect(workspace);
    let mut found: Vec<Finding> =
        collected.misread.iter().map(|it| Finding::at_line(&it.path, it.line, it.says.clone())).collect();
    for proof in &collected.proofs {
        for planned in &proof.breaks {
            if let Err(says) = planned.apply(workspace.texts.get(&planned.path).map(String::as_str)) {
                found.push(Finding::at_line(&proof.path, proof.line, says));
            }
        }
    }
    found
}
