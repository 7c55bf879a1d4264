use std::fmt;
use std::str::FromStr;

use ambit_ids::{RuleId, limits};

macro_rules! denial_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal),+ $(,)?) => {
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
    AnswerMalformed = "ANSWER_MALFORMED",
    /// The answer is larger than an answer may be.
    AnswerTooLarge = "ANSWER_TOO_LARGE",
    /// The answer holds more calls than may wait.
    TooManyCalls = "TOO_MANY_CALLS",
    /// The answer proposes nothing.
    AnswerWithoutCall = "ANSWER_WITHOUT_CALL",
    /// The answer was cut off, so that nobody can tell what it was to propose.
    AnswerCutOff = "ANSWER_CUT_OFF",
    /// The agent, or whoever stands between, refused to answer.
    AnswerRefused = "ANSWER_REFUSED",
    /// There is no such tool.
    ToolUnknown = "TOOL_UNKNOWN",
    /// The input does not fit the tool's schema.
    InputInvalid = "INPUT_INVALID",
    /// The path is not one of a project file.
    PathRefused = "PATH_REFUSED",
    /// No file of that path.
    PathNotFound = "PATH_NOT_FOUND",
    /// The plan has no step.
    PlanEmpty = "PLAN_EMPTY",
    /// The plan has too many steps.
    PlanTooLong = "PLAN_TOO_LONG",
    /// Two steps of the plan have one id.
    PlanStepRepeated = "PLAN_STEP_REPEATED",
    /// A call with a side effect came before an accepted plan.
    PlanMissing = "PLAN_MISSING",
    /// A step cites no acceptance case, or a patch cites no step.
    StepUncited = "STEP_UNCITED",
    /// A patch cites a step that the plan does not have.
    StepUnknown = "STEP_UNKNOWN",
    /// A step cites a case that the blueprint does not have.
    CaseUnknown = "CASE_UNKNOWN",
    /// A step's work is out of the blueprint's scope.
    WorkOutOfScope = "WORK_OUT_OF_SCOPE",
    /// The call names a revision that is not the run's.
    RevisionUnknown = "REVISION_UNKNOWN",
    /// The expected base digest is not the current one.
    BaseConflict = "BASE_CONFLICT",
    /// A gate failed, and the patch comes without a hypothesis of the cause.
    HypothesisMissing = "HYPOTHESIS_MISSING",
    /// The patch cannot be applied exactly.
    PatchRefused = "PATCH_REFUSED",
    /// The blueprint has no such gate.
    GateUnknown = "GATE_UNKNOWN",
    /// A cheaper gate has not passed on the current digest.
    GateOutOfOrder = "GATE_OUT_OF_ORDER",
    /// The gate both failed and passed on the current digest.
    GateFlaky = "GATE_FLAKY",
    /// The key was used for another gate or another digest.
    IdempotencyConflict = "IDEMPOTENCY_CONFLICT",
    /// There is no held proposal of that id.
    ProposalUnknown = "PROPOSAL_UNKNOWN",
    /// The proposal waits for another capability.
    CapabilityMismatch = "CAPABILITY_MISMATCH",
    /// The very same call was denied before for the same reason, or the very same patch led to a failure before.
    ProposalRepeated = "PROPOSAL_REPEATED",
    /// The policy denies the call.
    PolicyDenied = "POLICY_DENIED",
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
    /// What is possible instead; empty where nothing is.
    pub instead: String,
}

impl Denial {
    /// A denial with its detail cut to [`limits::AGENT_TEXT_BYTES`].
    #[must_use]
    pub fn new(code: DenialCode, detail: impl Into<String>) -> Self {
        Self { code, detail: bounded(detail.into()), rules: Vec::new(), instead: String::new() }
    }

    /// Says what is possible instead.
    #[must_use]
    pub fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = bounded(instead.into());
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
