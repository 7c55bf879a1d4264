//! The registry of identifiers. The doc of each says how it differs from its neighbours.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Why a text is not the identifier that it was read as.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind} {problem}")]
pub struct IdError {
    kind: &'static str,
    problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("must have {min} to {max} characters, this has {found}")]
    Length { min: usize, max: usize, found: usize },
    #[error("must start with `{0}`")]
    Prefix(&'static str),
    #[error("must not hold the character {0:?}")]
    Character(char),
    #[error("must start with a letter or a digit")]
    Start,
    #[error("must be `rev-` and a number without leading zeros")]
    Revision,
    #[error("must be lower-case letters, digits, `_` and `-`, with a letter first; {0:?} does not fit")]
    Word(char),
}

/// What a name may hold: letters, digits and `.`, `_`, `-`, starting with a letter or a digit, 1 to 64 characters.
///
/// The alphabet leaves out `/`, `:`, white space and everything that some file system, shell, URL or log would treat
/// as more than a name.
fn check_name(kind: &'static str, text: &str, max: usize) -> Result<(), IdError> {
    let fail = |problem| Err(IdError { kind, problem });
    if text.is_empty() || text.len() > max {
        return fail(Problem::Length { min: 1, max, found: text.chars().count() });
    }
    if let Some(bad) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))) {
        return fail(Problem::Character(bad));
    }
    if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return fail(Problem::Start);
    }
    Ok(())
}

/// A lower-case letter, then lower-case letters, digits, `_` and `-`, 1 to `max` characters.
fn check_word(kind: &'static str, text: &str, max: usize) -> Result<(), IdError> {
    let fail = |problem| Err(IdError { kind, problem });
    if text.is_empty() || text.len() > max {
        return fail(Problem::Length { min: 1, max, found: text.chars().count() });
    }
    let fits = |(at, c): (usize, char)| {
        c.is_ascii_lowercase() || (at > 0 && (c.is_ascii_digit() || matches!(c, '_' | '-')))
    };
    match text.char_indices().find(|at| !fits(*at)) {
        Some((_, bad)) => fail(Problem::Word(bad)),
        None => Ok(()),
    }
}

/// A name, and behind a colon a second one where there is one, up to `max` characters together.
fn check_backend(kind: &'static str, text: &str, max: usize) -> Result<(), IdError> {
    let Some((name, runtime)) = text.split_once(':') else { return check_name(kind, text, max) };
    if text.len() > max {
        let problem = Problem::Length { min: 1, max, found: text.chars().count() };
        return Err(IdError { kind, problem });
    }
    check_name(kind, name, max)?;
    check_name(kind, runtime, max)
}

/// `<prefix>_` and 6 to 64 of `[a-zA-Z0-9-]`: an opaque identifier that Ambit made.
fn check_opaque(kind: &'static str, prefix: &'static str, text: &str) -> Result<(), IdError> {
    let fail = |problem| Err(IdError { kind, problem });
    let Some(tail) = text.strip_prefix(prefix) else {
        return fail(Problem::Prefix(prefix));
    };
    if !(6..=64).contains(&tail.len()) {
        return fail(Problem::Length {
            min: prefix.len() + 6,
            max: prefix.len() + 64,
            found: text.chars().count(),
        });
    }
    match tail.chars().find(|c| !(c.is_ascii_alphanumeric() || *c == '-')) {
        Some(bad) => fail(Problem::Character(bad)),
        None => Ok(()),
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $check:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Validates `text`.
            ///
            /// # Errors
            /// [`IdError`] names the rule that the text breaks.
            pub fn new(text: impl Into<String>) -> Result<Self, IdError> {
                let text = text.into();
                let check: fn(&'static str, &str) -> Result<(), IdError> = $check;
                check($kind, &text)?;
                Ok(Self(text))
            }

            /// The identifier as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
            }
        }
    };
}

text_id!(
    /// A tenant: the widest boundary. Nothing is ever shared between two organisations.
    OrganizationId, "an organisation id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// A project within an organisation: it owns blueprints, revisions and runs.
    ProjectId, "a project id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// The name of a blueprint within its project (`bp-1`). Only together with a digest does it name one content.
    BlueprintId, "a blueprint id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// An acceptance case of a blueprint. Plan steps and gates cite it.
    CaseId, "an acceptance-case id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// An archetype probe of a blueprint: a check of the contract by another kind of application, never a gate.
    ProbeId, "a probe id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// A gate of a blueprint, and the command of that name in the catalog (`unit.idempotency`).
    GateId, "a gate id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// The `metadata.name` of a document other than a blueprint: a profile, a catalog, a policy bundle.
    DocumentName, "a document name", |k, t| check_name(k, t, 64)
);
text_id!(
    /// A step of the plan that the agent proposed; unique within its run.
    StepId, "a plan-step id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// The name that a person gave to a run (`run-wb-017`). Starting twice under one name is one run.
    RunName, "a run name", |k, t| check_name(k, t, 64)
);
text_id!(
    /// A run. Made by Ambit, unlike [`RunName`], and unique in the whole store.
    RunId, "a run id", |k, t| check_opaque(k, "run_", t)
);
text_id!(
    /// The lease of one sandbox by one run.
    LeaseId, "a lease id", |k, t| check_opaque(k, "lease_", t)
);
text_id!(
    /// One life of a leased sandbox. A lease that is allocated anew keeps its id and changes its incarnation, so an
    /// answer from an earlier life is recognised.
    Incarnation, "an incarnation", |k, t| check_opaque(k, "inc_", t)
);
text_id!(
    /// A proposal that waits for, or had, an approval. Derived from the digest of its content.
    ProposalId, "a proposal id", |k, t| check_opaque(k, "prop_", t)
);
text_id!(
    /// The receipt of an approval decision: what the agent sees of it, and never a credential.
    ReceiptId, "a receipt id", |k, t| check_opaque(k, "apr_", t)
);
text_id!(
    /// A person who may approve, by the name under which the approver's key is registered.
    ApproverId, "an approver id", |k, t| check_name(k, t, 64)
);
text_id!(
    /// Who answers the turns of a run: the adapter and, where there is one, the model.
    AgentId, "an agent id", |k, t| check_name(k, t, 128)
);
text_id!(
    /// A sandbox backend (`linux`), with the runtime that it drives where it drives one (`oci:crun`). Open, validated
    /// against the adapters that this binary holds.
    BackendId, "a backend id", |k, t| check_backend(k, t, 64)
);

impl BackendId {
    /// The backend that needs nothing beside this program. What names no backend means this one.
    #[must_use]
    pub fn embedded() -> Self {
        Self("linux".to_owned())
    }
}

text_id!(
    /// The name of a sandbox image on one machine. It may come to name another image; admission takes only a digest.
    ImageName, "an image name", |k, t| check_name(k, t, 64)
);
text_id!(
    /// The name of a volume: of a captured one on one machine, and of the place below `/volumes` where a command finds
    /// one (`cargo`, `node_modules`). What is mounted there is named by a digest alone.
    VolumeName, "a volume name", |k, t| check_word(k, t, 64)
);
text_id!(
    /// A rule of a policy bundle, as decisions cite it.
    RuleId, "a rule id", |k, t| check_name(k, t, 96)
);
text_id!(
    /// The key under which an agent repeats a write without repeating its effect.
    IdempotencyKey, "an idempotency key", |k, t| check_name(k, t, 128)
);
text_id!(
    /// The identity of one effect: derived from the run and the event that asked for it, so a repeat is recognised.
    EffectKey, "an effect key", |k, t| check_name(k, t, 160)
);

/// A source revision of a project: `rev-0` is the first import, each run opens the next.
///
/// It names a place in the lineage; the content is named by the digest of its tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RevisionId(u32);

impl RevisionId {
    /// The first revision of a project.
    pub const FIRST: Self = Self(0);

    /// Revision `number`.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The place in the lineage, counted from 0.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The revision after this one; `None` past the last that can be named.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.0.checked_add(1).map(Self)
    }
}

impl fmt::Display for RevisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rev-{}", self.0)
    }
}

impl fmt::Debug for RevisionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for RevisionId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = IdError { kind: "a revision id", problem: Problem::Revision };
        let digits = text.strip_prefix("rev-").ok_or_else(|| wrong.clone())?;
        let plain = digits == "0" || (!digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit()));
        if !plain {
            return Err(wrong);
        }
        digits.parse().map(Self).map_err(|_| wrong)
    }
}

crate::text_form!(RevisionId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_hold_no_character_that_something_else_reads() {
        for good in ["a", "bp-1", "unit.todo-idempotency", "AC_2", "0", &"x".repeat(64)] {
            assert!(GateId::new(good).is_ok(), "{good}");
        }
        for bad in
            ["", "-a", ".a", "..", "a/b", "a b", "a\n", "a:b", "a\0", "é", "a\u{202e}", &"x".repeat(65)]
        {
            assert!(GateId::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_backend_may_name_the_runtime_that_it_drives() {
        for good in ["linux", "oci:crun", "oci:runsc-systrap", &"x".repeat(64)] {
            assert!(BackendId::new(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            ":",
            "oci:",
            ":crun",
            "oci:a:b",
            "oci:/bin/crun",
            "oci:-x",
            &format!("oci:{}", "x".repeat(61)),
        ] {
            assert!(BackendId::new(bad).is_err(), "{bad:?}");
        }
        assert_eq!(BackendId::new("linux").unwrap(), BackendId::embedded());
    }

    #[test]
    fn opaque_ids_carry_their_prefix_and_six_to_sixty_four_characters() {
        assert!(RunId::new("run_abcdef").is_ok());
        assert!(RunId::new(format!("run_{}", "a".repeat(64))).is_ok());
        for bad in ["run_abcde", "lease_abcdef", "abcdef", "run_abc_def", "run_abc.def", "RUN_abcdef"] {
            assert!(RunId::new(bad).is_err(), "{bad}");
        }
        assert!(RunId::new(format!("run_{}", "a".repeat(65))).is_err());
    }

    #[test]
    fn a_revision_has_one_spelling() {
        assert_eq!("rev-10".parse::<RevisionId>().unwrap().number(), 10);
        for bad in ["rev-", "rev-01", "rev--1", "rev-1 ", "rev-4294967296", "1", "Rev-1", "rev-+1"] {
            assert!(bad.parse::<RevisionId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn serde_goes_through_the_same_door() {
        assert!(serde_json::from_str::<GateId>("\"a b\"").is_err());
        assert!(serde_json::from_str::<RevisionId>("\"rev-007\"").is_err());
        assert_eq!(serde_json::to_string(&RevisionId::new(3)).unwrap(), "\"rev-3\"");
    }

    proptest::proptest! {
        #[test]
        fn whatever_is_accepted_reads_back(text in ".{0,80}") {
            if let Ok(id) = RunName::new(text.clone()) {
                proptest::prop_assert_eq!(id.to_string(), text.clone());
                proptest::prop_assert_eq!(text.parse::<RunName>().unwrap(), id);
            }
        }
    }
}
