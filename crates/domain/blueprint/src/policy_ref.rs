use std::fmt;
use std::str::FromStr;

use ambit_ids::{DocumentName, IdError};

/// A reference to one version of a policy document: `policy://named-commands/v3`.
///
/// It names a document and no content. What content a run is pinned to stands in its
/// [`PolicySet`](crate::PolicySet), by digest.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PolicyRef {
    name: DocumentName,
    version: u32,
}

/// Why a text is not a reference.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParsePolicyRefError {
    /// Not of the form.
    #[error("a policy reference is `policy://`, a name, `/v` and a version from 1 without leading zeros")]
    Form,
    /// The name breaks a rule of names.
    #[error(transparent)]
    Name(#[from] IdError),
}

impl PolicyRef {
    /// The name of the document that is meant.
    #[must_use]
    pub const fn name(&self) -> &DocumentName {
        &self.name
    }

    /// Its version, from 1.
    #[must_use]
    pub const fn version(&self) -> u32 {
        self.version
    }
}

impl FromStr for PolicyRef {
    type Err = ParsePolicyRefError;

    fn from_str(text: &str) -> Result<Self, ParsePolicyRefError> {
        let rest = text.strip_prefix("policy://").ok_or(ParsePolicyRefError::Form)?;
        let (name, version) = rest.split_once("/v").ok_or(ParsePolicyRefError::Form)?;
        let plain = version.bytes().all(|b| b.is_ascii_digit()) && !version.starts_with('0');
        let version = version.parse().ok().filter(|_| plain).ok_or(ParsePolicyRefError::Form)?;
        Ok(Self { name: DocumentName::new(name)?, version })
    }
}

impl fmt::Display for PolicyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy://{}/v{}", self.name, self.version)
    }
}

impl fmt::Debug for PolicyRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

ambit_ids::text_form!(PolicyRef);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_one_spelling() {
        let text = "policy://named-commands/v3";
        let reference: PolicyRef = text.parse().unwrap();
        assert_eq!((reference.name().as_str(), reference.version()), ("named-commands", 3));
        assert_eq!(reference.to_string(), text);
        for bad in [
            "",
            "policy://named-commands",
            "policy://named-commands/3",
            "policy://named-commands/v",
            "policy://named-commands/v0",
            "policy://named-commands/v03",
            "policy://named-commands/v+3",
            "policy://named-commands/v99999999999",
            "policy:///v3",
            "policy://a/b/v3",
            "policy://a/v3/v4",
            "POLICY://named-commands/v3",
            "https://named-commands/v3",
            "policy://named-commands/latest",
        ] {
            assert!(bad.parse::<PolicyRef>().is_err(), "{bad}");
        }
    }
}
