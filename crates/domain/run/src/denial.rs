use std::fmt;
use std::str::FromStr;

use ambit_ids::{RuleId, limits};

macro_rules! denial_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $instead:literal);+ $(;)?) => {
        /// Why a proposal had no effect. Stable: agents, records and people read these words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DenialCode { $($(#[$doc])* $name),+ }

        impl DenialCode {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The code as records spell it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),+ }
            }

            /// What is possible instead, where whoever denies knows nothing better.
            #[must_use]
            pub const fn instead(self) -> &'static str {
                match self { $(Self::$name => $instead),+ }
            }
        }

        impl FromStr for DenialCode {
            type Err = ();
            fn from_str(text: &str) -> Result<Self, ()> {
                match text { $($text => Ok(Self::$name),)+ _ => Err(()) }
            }
        }
    };
}

denial_codes!(
    /// The answer is no JSON object of the expected form.
    AnswerMalformed = "ANSWER_MALFORMED", "answer one JSON object that holds a plan or a call of one of the tools";
    /// The answer is larger than an answer may be.
    AnswerTooLarge = "ANSWER_TOO_LARGE", "propose less at once";
    /// The answer holds more calls than may wait.
    TooManyCalls = "TOO_MANY_CALLS", "propose one call, and the next one once its observation is there";
    /// The answer proposes nothing.
    AnswerWithoutCall = "ANSWER_WITHOUT_CALL", "propose a plan or a call of one of the tools";
    /// The answer was cut off, so that nobody can tell what it was to propose.
    AnswerCutOff = "ANSWER_CUT_OFF", "propose less at once, so that the answer is whole";
    /// The agent, or whoever stands between, refused to answer.
    AnswerRefused = "ANSWER_REFUSED", "propose a plan or a call within the goal of the run";
    /// There is no such tool.
    ToolUnknown = "TOOL_UNKNOWN", "use one of the tools that the context lists";
    /// The input does not fit the tool's schema.
    InputInvalid = "INPUT_INVALID", "give the tool an input that fits its schema";
    /// The path is not one of a project file.
    PathRefused = "PATH_REFUSED", "name a file of the project by its path from the root of the project";
    /// No file of that path.
    PathNotFound = "PATH_NOT_FOUND", "list the files of the revision, and name one of them";
    /// The plan has no step.
    PlanEmpty = "PLAN_EMPTY", "propose a plan with at least one step";
    /// The plan has too many steps.
    PlanTooLong = "PLAN_TOO_LONG", "propose a plan with fewer steps";
    /// Two steps of the plan have one id.
    PlanStepRepeated = "PLAN_STEP_REPEATED", "give each step of the plan an id of its own";
    /// A call with a side effect came before an accepted plan.
    PlanMissing = "PLAN_MISSING", "propose a plan whose steps cite acceptance cases";
    /// A step cites no acceptance case, or a patch cites no step.
    StepUncited = "STEP_UNCITED", "cite an acceptance case in each step of a plan, and a step of the plan with each patch";
    /// A patch cites a step that the plan does not have.
    StepUnknown = "STEP_UNKNOWN", "cite a step that the accepted plan has, or propose another plan";
    /// A step cites a case that the blueprint does not have.
    CaseUnknown = "CASE_UNKNOWN", "cite acceptance cases that the context lists";
    /// A step's work is out of the blueprint's scope.
    WorkOutOfScope = "WORK_OUT_OF_SCOPE", "plan work of the kinds that the context lists";
    /// The call names a revision that is not the run's.
    RevisionUnknown = "REVISION_UNKNOWN", "name the revision of the run";
    /// The expected base digest is not the current one.
    BaseConflict = "BASE_CONFLICT", "read what changed, and propose against the current digest";
    /// A gate failed, and the patch comes without a hypothesis of the cause.
    HypothesisMissing = "HYPOTHESIS_MISSING", "propose the patch together with a hypothesis of the cause";
    /// The patch cannot be applied exactly.
    PatchRefused = "PATCH_REFUSED", "propose a patch that applies exactly to the current tree";
    /// The blueprint has no such gate.
    GateUnknown = "GATE_UNKNOWN", "name a gate that the context lists";
    /// A cheaper gate has not passed on the current digest.
    GateOutOfOrder = "GATE_OUT_OF_ORDER", "run the cheaper gates first";
    /// The gate both failed and passed on the current digest.
    GateFlaky = "GATE_FLAKY", "propose a patch that makes the gate answer alike each time";
    /// The key was used for another gate or another digest.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT", "use a key of its own for each execution";
    /// There is no held proposal of that id.
    ProposalUnknown = "PROPOSAL_UNKNOWN", "make the call first; where it is held back, ask with the id of the proposal that is told then";
    /// The proposal waits for another capability.
    CapabilityMismatch = "CAPABILITY_MISMATCH", "ask for the capability that was told when the call was held back";
    /// The very same call was denied before for the same reason, or the very same patch led to a failure before.
    ProposalRepeated = "PROPOSAL_REPEATED", "propose something else";
    /// Nobody could see all of what the call does, so nobody can approve it.
    ProposalUninspectable = "PROPOSAL_UNINSPECTABLE", "propose less at once: plain text, in short lines, in files whose paths anybody can read";
    /// The approval that the call rests on counts no more.
    ApprovalVoid = "APPROVAL_VOID", "propose the call again, and ask for an approval of it";
    /// The policy denies the call.
    PolicyDenied = "POLICY_DENIED", "propose what stays within the scope of the approved blueprint";
);

impl fmt::Display for DenialCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A denial of one proposal: told to the agent as an observation, recorded and counted. The run goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The code.
    pub code: DenialCode,
    /// What was wrong, in a sentence. May quote the proposal, bounded.
    pub detail: String,
    /// The policy rules that decided, where a policy decided.
    pub rules: Vec<RuleId>,
    /// What is possible instead.
    pub instead: String,
}

impl Denial {
    /// A denial with its detail cut to [`limits::AGENT_TEXT_BYTES`].
    #[must_use]
    pub fn new(code: DenialCode, detail: impl Into<String>) -> Self {
        let instead = code.instead().to_owned();
        Self { code, detail: bounded(detail.into()), rules: Vec::new(), instead }
    }

    /// Says what is possible instead. Where nothing is said, what is possible instead of every denial of this code stands.
    #[must_use]
    pub fn instead(mut self, instead: impl Into<String>) -> Self {
        let instead = bounded(instead.into());
        if !instead.is_empty() {
            self.instead = instead;
        }
        self
    }

    /// Names the rules that decided.
    #[must_use]
    pub fn by(mut self, rules: &[RuleId]) -> Self {
        self.rules = rules.to_vec();
        self
    }

    /// Says which part of the proposal it is about.
    #[must_use]
    pub fn about(mut self, part: &str) -> Self {
        self.detail = bounded(format!("{part}: {}", self.detail));
        self
    }
}

impl fmt::Display for Denial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.detail)
    }
}

/// A text of an agent as a record keeps it: without control characters other than line feed and tab, and cut at a
/// character boundary. A record thereby stays within its size whatever the text was.
#[must_use]
pub(crate) fn bounded(text: String) -> String {
    let plain = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    let mut text = if text.chars().all(plain) {
        text
    } else {
        text.chars().map(|c| if plain(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
    };
    if text.len() > limits::AGENT_TEXT_BYTES {
        let mut end = limits::AGENT_TEXT_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
    }
    text
}
