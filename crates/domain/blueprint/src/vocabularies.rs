//! The closed vocabularies of documents.

use ambit_policy::{Capability, DenialKind, FactKind, LifecycleStage, Plane, Side, ToolName};

use crate::word::Word;
use crate::{
    AggregateLimits, CommandVerdict, DocumentKind, EgressDefault, Erasure, ExpectedOutcome, ExpectedVerdict,
    RequiredCancellation, RequiredEgress, RequiredEvidence, RequiredIsolation, RequiredPreview,
    RequiredSecretDelivery, RuleEffect, SecretBinding,
};

macro_rules! words {
    ($($name:ty),+ $(,)?) => {
        $(impl Word for $name {
            const WORDS: &'static [Self] = Self::ALL;

            fn spelled(self) -> &'static str {
                self.as_str()
            }
        })+
    };
}

words!(Capability, DenialKind, FactKind, LifecycleStage, Plane, Side, ToolName);
words!(DocumentKind, ExpectedOutcome, CommandVerdict);
words!(EgressDefault, SecretBinding, Erasure, RuleEffect, ExpectedVerdict);
words!(RequiredIsolation, RequiredEgress, RequiredSecretDelivery, RequiredPreview, RequiredCancellation);
words!(RequiredEvidence, AggregateLimits);
