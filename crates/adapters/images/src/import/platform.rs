use std::fmt;
use std::str::FromStr;

use serde::Deserialize;

/// An operating system and a processor, as images name them: `linux/amd64`, `linux/arm64/v8`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Platform {
    os: String,
    architecture: String,
    variant: Option<String>,
}

/// Why a text names no platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} names no platform: it is an operating system and a processor, such as `linux/amd64`")]
pub struct PlatformError(String);

impl Platform {
    /// The platform of this machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        Self { os: "linux".to_owned(), architecture: architecture.to_owned(), variant: None }
    }

    /// Whether it is `other`, as far as it says which variant.
    pub(crate) fn takes(&self, other: &Self) -> bool {
        let is_variant = match (self.variant(), other.variant()) {
            (Some(wanted), Some(found)) => wanted == found,
            _ => true,
        };
        (&self.os, &self.architecture) == (&other.os, &other.architecture) && is_variant
    }

    fn variant(&self) -> Option<&str> {
        self.variant.as_deref().filter(|variant| !variant.is_empty())
    }
}

impl FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Self, PlatformError> {
        let is_part = |part: &&str| {
            (1..=32).contains(&part.len())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.')
        };
        let parts: Vec<&str> = text.split('/').collect();
        let (os, architecture, variant) = match parts.as_slice() {
            [os, architecture] => (os, architecture, None),
            [os, architecture, variant] => (os, architecture, Some(variant)),
            _ => return Err(PlatformError(text.to_owned())),
        };
        if !parts.iter().all(is_part) {
            return Err(PlatformError(text.to_owned()));
        }
        Ok(Self {
            os: (*os).to_owned(),
            architecture: (*architecture).to_owned(),
            variant: variant.map(|variant| (*variant).to_owned()),
        })
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        self.variant().map_or(Ok(()), |variant| write!(f, "/{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_is_two_words_or_three() {
        let platform = |text: &str| text.parse::<Platform>();
        assert_eq!(platform("linux/arm64/v8").unwrap().to_string(), "linux/arm64/v8");
        assert!(platform("linux/arm64").unwrap().takes(&platform("linux/arm64/v8").unwrap()));
        assert!(!platform("linux/arm64/v7").unwrap().takes(&platform("linux/arm64/v8").unwrap()));
        assert!(!platform("linux/amd64").unwrap().takes(&platform("windows/amd64").unwrap()));
        for bad in ["", "linux", "linux/", "/amd64", "linux/amd64/v1/x", "linux/am d64", "linux/\u{202e}"] {
            assert!(platform(bad).is_err(), "{bad:?}");
        }
    }
}
