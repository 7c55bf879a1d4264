//! The documents that come with Ambit, as they lie in `documents/`.

use crate::{Document, DocumentError};

/// A document that comes with Ambit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    /// Where it lies, from the top of the source tree.
    pub path: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! builtin {
    ($(#[$doc:meta])* $name:ident, $path:literal) => {
        $(#[$doc])*
        pub const $name: Builtin =
            Builtin { path: $path, text: include_str!(concat!("../../../../", $path)) };
    };
}

builtin!(
    /// The profile for runs whose limits must hold for a sandbox as a whole.
    SECURE_GENERATION_V1, "documents/profiles/secure-generation-v1.yaml"
);
builtin!(
    /// The profile for a machine on which they cannot: every record says what is lacking.
    LAPTOP_V1, "documents/profiles/laptop-v1.yaml"
);
builtin!(
    /// The first rules for tool calls, to which older runs are pinned.
    GENERATION_TOOLS_V1, "documents/policies/generation-tools-v1.yaml"
);
builtin!(
    /// The default rules for tool calls.
    GENERATION_TOOLS_V2, "documents/policies/generation-tools-v2.yaml"
);
builtin!(
    /// Nothing can be reached.
    GENERATION_EGRESS_V5, "documents/policies/generation-egress-v5.yaml"
);
builtin!(
    /// No secret is bound.
    SECRET_BROKER_V4, "documents/policies/secret-broker-v4.yaml"
);
builtin!(
    /// How long evidence is kept.
    RUN_EVIDENCE_RETENTION_V2, "documents/policies/run-evidence-retention-v2.yaml"
);

/// Every document that comes with Ambit. The catalog of named commands is not among them: it names images, and
/// therefore belongs to a project.
pub const ALL: [Builtin; 7] = [
    SECURE_GENERATION_V1,
    LAPTOP_V1,
    GENERATION_TOOLS_V1,
    GENERATION_TOOLS_V2,
    GENERATION_EGRESS_V5,
    SECRET_BROKER_V4,
    RUN_EVIDENCE_RETENTION_V2,
];

impl Builtin {
    /// Reads it.
    ///
    /// # Errors
    /// [`DocumentError`], which a test excludes for every document of [`ALL`].
    pub fn parse(&self) -> Result<Document, DocumentError> {
        Document::parse(self.path, self.text.as_bytes())
    }
}

/// Reads every document that comes with Ambit, in the order of [`ALL`].
///
/// # Errors
/// As [`Builtin::parse`].
pub fn parse_all() -> Result<Vec<Document>, DocumentError> {
    ALL.iter().map(Builtin::parse).collect()
}
