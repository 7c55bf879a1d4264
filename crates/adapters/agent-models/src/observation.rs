//! What the platform tells of a call.

use serde::Deserialize;
use serde_json::Value;

/// One reply, told apart by its members.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Observed {
    Denied {
        denied: Denied,
    },
    #[serde(rename_all = "camelCase")]
    Held {
        needs_approval: Held,
    },
    Replayed {
        // One that is not there would be taken for one that is nothing.
        #[serde(deserialize_with = "Option::deserialize")]
        replayed: Option<Effect>,
    },
    Failed {
        failed: Failed,
    },
    Unknown {
        unknown: Unknown,
    },
    #[serde(rename_all = "camelCase")]
    PlanAccepted {
        plan_accepted: bool,
    },
    Decided {
        decision: String,
    },
    Done(Effect),
    Other(Value),
}

/// What a call that was performed came to.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Effect {
    File {
        content: String,
        sha256: String,
        truncated: bool,
    },
    Files {
        files: Vec<String>,
        truncated: bool,
    },
    Matches {
        matches: Vec<String>,
        truncated: bool,
    },
    #[serde(rename_all = "camelCase")]
    Patched {
        changed_files: Vec<String>,
        revision_sha: String,
    },
    Gate(GateRun),
    /// A gate of which no more than its verdict is known.
    Verdict {
        passed: bool,
    },
}

/// A gate that ran.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GateRun {
    pub(crate) exit_code: i64,
    pub(crate) duration_ms: u64,
    pub(crate) output: String,
    #[serde(default)]
    pub(crate) truncated: bool,
    pub(crate) error_class: Option<String>,
    pub(crate) summary: Option<Summary>,
}

/// What the output of a gate says about its failure.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Summary {
    #[serde(default)]
    pub(crate) failures: Vec<FailedCheck>,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct FailedCheck {
    pub(crate) test: Option<String>,
    pub(crate) class: String,
    pub(crate) message: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Denied {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) detail: String,
    #[serde(default)]
    pub(crate) rules: Vec<String>,
    #[serde(default)]
    pub(crate) instead: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Held {
    pub(crate) proposal_id: String,
    pub(crate) capability: String,
    /// What was found in the call. Replies of earlier turns do not say.
    #[serde(default)]
    pub(crate) detail: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Failed {
    pub(crate) code: String,
    #[serde(default)]
    pub(crate) detail: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Unknown {
    pub(crate) detail: String,
    pub(crate) instead: String,
}

impl GateRun {
    /// Whether it passed. A gate that was ended by anything but itself has an error class.
    pub(crate) fn passed(&self) -> bool {
        self.exit_code == 0 && self.error_class.is_none()
    }
}

impl Observed {
    /// Whether the call had no effect.
    pub(crate) fn is_without_effect(&self) -> bool {
        matches!(self, Self::Denied { .. } | Self::Held { .. } | Self::Failed { .. } | Self::Unknown { .. })
    }

    /// The gate run that it tells of, whether it ran now or before.
    pub(crate) fn gate_run(&self) -> Option<&GateRun> {
        match self {
            Self::Done(Effect::Gate(run)) | Self::Replayed { replayed: Some(Effect::Gate(run)) } => Some(run),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Observed {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn every_form_of_a_reply_is_told_apart() {
        let gate = json!({"exitCode": 1, "artifactId": "sha256:1", "durationMs": 5, "output": "x",
            "truncated": false, "errorClass": "failed",
            "summary": {"runner": null, "failures": [], "moreFailures": 0, "counts": null}});
        assert!(read(gate.clone()).gate_run().is_some_and(|run| !run.passed()));
        let mut again = gate;
        again["passed"] = json!(false);
        assert!(read(json!({"replayed": again})).gate_run().is_some());
        assert!(matches!(read(json!({"replayed": null})), Observed::Replayed { replayed: None }));
        assert!(matches!(
            read(json!({"replayed": {"artifactId": "a", "durationMs": 1, "passed": true}})),
            Observed::Replayed { replayed: Some(Effect::Verdict { passed: true }) }
        ));
        let denied = read(json!({"denied": {"code": "A", "detail": "b", "rules": ["c"], "instead": "d"}}));
        assert!(matches!(&denied, Observed::Denied { denied } if denied.rules == ["c"]));
        assert!(denied.is_without_effect());
        for (value, effect) in [
            (json!({"content": "", "sha256": "s", "truncated": false}), "File"),
            (json!({"files": [], "truncated": false}), "Files"),
            (json!({"matches": [], "truncated": false}), "Matches"),
            (json!({"changedFiles": [], "revisionSha": "s"}), "Patched"),
        ] {
            let Observed::Done(done) = read(value) else { panic!("{effect}") };
            assert!(format!("{done:?}").starts_with(effect), "{done:?}");
        }
        assert!(matches!(
            read(json!({"planAccepted": true})),
            Observed::PlanAccepted { plan_accepted: true }
        ));
        assert!(matches!(read(json!({"decision": "approved", "receiptId": "r"})), Observed::Decided { .. }));
        assert!(matches!(
            read(json!({"needsApproval": {"proposalId": "p", "capability": "c"}})),
            Observed::Held { .. }
        ));
        assert!(matches!(read(json!({"something": "new"})), Observed::Other(_)));
    }
}
