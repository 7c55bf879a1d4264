use std::collections::BTreeSet;

use ambit_ids::{CaseId, StepId, limits};

use crate::denial::{Denial, DenialCode};
use crate::pins::Pins;

/// What the agent means to do. Every step cites an acceptance case of the blueprint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<PlanStep>,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// Its id, unique in the plan. Patches cite it.
    pub id: StepId,
    /// What it is about, in the agent's words. Untrusted text.
    pub summary: String,
    /// The kind of work, a word of the blueprint's scope.
    pub work: String,
    /// The acceptance cases that it serves.
    pub cases: BTreeSet<CaseId>,
}

impl Plan {
    /// Accepts the steps that an agent proposed, all or none.
    ///
    /// # Errors
    /// The denial names the first step that cites nothing, cites an unknown case, or lies out of scope.
    pub fn accept(steps: Vec<PlanStep>, pins: &Pins) -> Result<Self, Denial> {
        if steps.is_empty() {
            return Err(Denial::new(DenialCode::PlanEmpty, "the plan has no step"));
        }
        if steps.len() > limits::PLAN_STEPS {
            return Err(Denial::new(
                DenialCode::PlanTooLong,
                format!("the plan has {} steps; {} are allowed", steps.len(), limits::PLAN_STEPS),
            ));
        }
        let bytes: usize = steps.iter().map(PlanStep::text_bytes).sum();
        if bytes > limits::PLAN_BYTES {
            return Err(Denial::new(
                DenialCode::PlanTooLong,
                format!("the plan has {bytes} bytes of text; {} are allowed", limits::PLAN_BYTES),
            ));
        }
        let mut seen = BTreeSet::new();
        for step in &steps {
            if !seen.insert(&step.id) {
                return Err(Denial::new(
                    DenialCode::PlanStepRepeated,
                    format!("the step {} stands twice", step.id),
                ));
            }
            check_step(&step.work, &step.cases, &pins.work, &pins.cases)
                .map_err(|denial| denial.about(&format!("step {}", step.id)))?;
        }
        Ok(Self { steps })
    }

    /// A plan that was accepted before, as it stands in the record.
    #[must_use]
    pub const fn recorded(steps: Vec<PlanStep>) -> Self {
        Self { steps }
    }

    /// The steps, in the agent's order.
    #[must_use]
    pub fn steps(&self) -> &[PlanStep] {
        &self.steps
    }

    /// The step of this id.
    #[must_use]
    pub fn step(&self, id: &StepId) -> Option<&PlanStep> {
        self.steps.iter().find(|step| step.id == *id)
    }

    /// Every case that some step serves.
    #[must_use]
    pub fn cases(&self) -> BTreeSet<&CaseId> {
        self.steps.iter().flat_map(|step| &step.cases).collect()
    }
}

impl PlanStep {
    fn text_bytes(&self) -> usize {
        let cases: usize = self.cases.iter().map(|case| case.as_str().len()).sum();
        self.id.as_str().len() + self.summary.len() + self.work.len() + cases
    }
}

/// Checks one step of work against the scope and the cases of a blueprint: it cites at least one case, only known ones,
/// and lies in scope.
///
/// # Errors
/// The denial names the rule that the step breaks.
pub fn check_step(
    work: &str,
    cases: &BTreeSet<CaseId>,
    scope: &BTreeSet<String>,
    known: &BTreeSet<CaseId>,
) -> Result<(), Denial> {
    if !scope.contains(work) {
        let allowed: Vec<&str> = scope.iter().map(String::as_str).collect();
        return Err(Denial::new(DenialCode::WorkOutOfScope, format!("`{work}` work is out of scope"))
            .instead(format!("the scope holds {}", allowed.join(", "))));
    }
    if cases.is_empty() {
        return Err(Denial::new(DenialCode::StepUncited, "it cites no acceptance case"));
    }
    if let Some(unknown) = cases.iter().find(|case| !known.contains(case)) {
        let known: Vec<&str> = known.iter().map(CaseId::as_str).collect();
        return Err(Denial::new(DenialCode::CaseUnknown, format!("the blueprint has no case {unknown}"))
            .instead(format!("its cases are {}", known.join(", "))));
    }
    Ok(())
}
