use std::fmt;

use ambit_ids::{Digest, RuleId, vocabulary};

use crate::Capability;

vocabulary!(
    /// What a denial does to the run.
    DenialKind {
        /// The agent is told, the denial is recorded and counted, and the run goes on.
        Call = "call",
        /// The run ends: a protected oracle, forged or widened authority, or anything that cannot be classified.
        Terminating = "terminating",
    }
);

/// The three possible outcomes of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The call may proceed to its effect.
    Allow,
    /// The call may proceed once a person has approved exactly it.
    NeedsApproval(Capability),
    /// The call has no effect.
    Deny(DenialKind),
}

/// What one rule that applies says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Permits.
    Permit,
    /// Holds back until the capability is approved.
    RequireApproval(Capability),
    /// Forbids, whatever else permits.
    Forbid(DenialKind),
}

/// A decision with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The outcome.
    pub verdict: Verdict,
    /// The rules that determined the outcome, sorted. Empty means that no rule applied, which denies.
    pub rules: Vec<RuleId>,
    /// The engine that decided.
    pub engine: EngineVersion,
    /// The digest of the canonical bytes of the request, so that the decision can be made again.
    pub input: Digest,
}

/// The name and version of a policy engine (`rules/1`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct EngineVersion(pub String);

impl fmt::Display for EngineVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Combines the answers of all rules that apply into one verdict, with the rules that determined it.
///
/// A forbid wins over everything, and a terminating forbid over one that only denies the call. Then an approval that
/// is required, then a permit. Silence denies and ends the run: what no rule classifies is ambiguous.
#[must_use]
pub fn combine(answers: &[(RuleId, Answer)]) -> (Verdict, Vec<RuleId>) {
    let verdict = answers
        .iter()
        .map(|(_, answer)| match answer {
            Answer::Forbid(DenialKind::Terminating) => (0, Verdict::Deny(DenialKind::Terminating)),
            Answer::Forbid(DenialKind::Call) => (1, Verdict::Deny(DenialKind::Call)),
            Answer::RequireApproval(capability) => (2, Verdict::NeedsApproval(*capability)),
            Answer::Permit => (3, Verdict::Allow),
        })
        .min_by_key(|(rank, _)| *rank)
        .map_or(Verdict::Deny(DenialKind::Terminating), |(_, verdict)| verdict);
    let mut rules: Vec<RuleId> = answers
        .iter()
        .filter(|(_, answer)| match (answer, verdict) {
            (Answer::Permit, Verdict::Allow) => true,
            (Answer::RequireApproval(asked), Verdict::NeedsApproval(needed)) => *asked == needed,
            (Answer::Forbid(kind), Verdict::Deny(denied)) => *kind == denied,
            _ => false,
        })
        .map(|(rule, _)| rule.clone())
        .collect();
    rules.sort();
    rules.dedup();
    (verdict, rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(name: &str) -> RuleId {
        RuleId::new(name).unwrap()
    }

    // proves E-H06
    // break crates/domain/policy/src/decision.rs: `.map_or(Verdict::Deny(DenialKind::Terminating), |(_, verdict)| verdict);` -> `.map_or(Verdict::Allow, |(_, verdict)| verdict);`
    #[test]
    fn silence_denies_and_ends_the_run() {
        assert_eq!(combine(&[]), (Verdict::Deny(DenialKind::Terminating), Vec::new()));
        assert_eq!(combine(&[(rule("p"), Answer::Permit)]).0, Verdict::Allow);
    }

    #[test]
    fn the_strictest_answer_wins_in_every_order_and_names_its_rules() {
        let all = [
            (rule("permit"), Answer::Permit),
            (rule("ask"), Answer::RequireApproval(Capability::DependencyAdd)),
            (rule("deny"), Answer::Forbid(DenialKind::Call)),
            (rule("end"), Answer::Forbid(DenialKind::Terminating)),
        ];
        let expected = [
            (Verdict::Allow, "permit"),
            (Verdict::NeedsApproval(Capability::DependencyAdd), "ask"),
            (Verdict::Deny(DenialKind::Call), "deny"),
            (Verdict::Deny(DenialKind::Terminating), "end"),
        ];
        for (count, (verdict, name)) in expected.into_iter().enumerate() {
            let mut answers = all[..=count].to_vec();
            for _ in 0..answers.len() {
                answers.rotate_left(1);
                assert_eq!(combine(&answers), (verdict, vec![rule(name)]));
            }
        }
    }
}
