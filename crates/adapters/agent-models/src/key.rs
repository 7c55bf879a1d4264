//! Keys: named in documents, read when a client is made, shown nowhere.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::error::ModelAgentError;
use crate::limits::KEY_BYTES;

/// Where a key is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyReference {
    Environment(String),
    File(PathBuf),
    Nowhere,
}

/// A key. It has no `Display`, its `Debug` says nothing, and its memory is cleared.
#[derive(Clone)]
pub(crate) struct Secret(Zeroizing<String>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for KeyReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment(name) => write!(f, "env:{name}"),
            Self::File(path) => write!(f, "file:{}", path.display()),
            Self::Nowhere => f.write_str("none"),
        }
    }
}

impl KeyReference {
    /// Reads `env:NAME`, `file:/absolute/path` or `none`.
    pub(crate) fn parse(text: &str) -> Result<Self, ModelAgentError> {
        let refused = || ModelAgentError::KeyReference(text.chars().take(16).collect());
        if text == "none" {
            return Ok(Self::Nowhere);
        }
        if let Some(name) = text.strip_prefix("env:") {
            let valid = name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
            let starts = name.starts_with(|c: char| c.is_ascii_uppercase());
            return if valid && starts && name.len() <= 128 {
                Ok(Self::Environment(name.to_owned()))
            } else {
                Err(refused())
            };
        }
        match text.strip_prefix("file:").map(PathBuf::from) {
            Some(path) if path.is_absolute() => Ok(Self::File(path)),
            _ => Err(refused()),
        }
    }

    /// The key, or `None` where none is to be sent.
    pub(crate) fn resolve(
        &self,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<Secret>, ModelAgentError> {
        match self {
            Self::Nowhere => Ok(None),
            Self::Environment(name) => {
                let text = Zeroizing::new(environment(name).unwrap_or_default());
                if text.trim().is_empty() {
                    return Err(ModelAgentError::KeyAbsent(name.clone()));
                }
                checked(&text, &format!("the environment variable {name}")).map(Some)
            }
            Self::File(path) => read_file(path).map(Some),
        }
    }
}

fn read_file(path: &Path) -> Result<Secret, ModelAgentError> {
    let place = path.display();
    let failed = |source| ModelAgentError::KeyFile { path: path.to_owned(), source };
    // A pipe would keep its opener waiting.
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Err(ModelAgentError::KeyUnusable(format!("{place} is not a file")));
    }
    let file = File::open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.mode() & 0o077 != 0 {
        return Err(ModelAgentError::KeyUnusable(format!(
            "others may read {place}: `chmod 600` it, and make a new key if others could read this one"
        )));
    }
    let mut text = Zeroizing::new(String::with_capacity(KEY_BYTES + 2));
    file.take(KEY_BYTES as u64 + 2).read_to_string(&mut text).map_err(failed)?;
    checked(&text, &place.to_string())
}

/// White space around a key is none of it.
fn checked(text: &str, place: &str) -> Result<Secret, ModelAgentError> {
    let key = text.trim();
    if key.is_empty() || key.len() > KEY_BYTES || !key.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(ModelAgentError::KeyUnusable(format!(
            "{place} does not hold 1 to {KEY_BYTES} visible characters"
        )));
    }
    Ok(Secret(Zeroizing::new(key.to_owned())))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn references_are_read_strictly_and_a_key_in_place_of_one_is_not_repeated() {
        assert_eq!(KeyReference::parse("none").unwrap(), KeyReference::Nowhere);
        assert_eq!(KeyReference::parse("env:A_1").unwrap(), KeyReference::Environment("A_1".to_owned()));
        assert_eq!(KeyReference::parse("file:/k").unwrap(), KeyReference::File(PathBuf::from("/k")));
        for wrong in
            ["", "env:", "env:a", "env:A=B", "env:1A", "file:k", "file:", "NONE", "sk-secret-0123456789abc"]
        {
            let error = KeyReference::parse(wrong).unwrap_err();
            assert_eq!(error.code(), "MODEL_KEY_REFERENCE", "{wrong}");
            assert!(!error.to_string().contains("0123456789abc"));
        }
    }

    #[test]
    fn a_file_that_others_may_read_and_one_that_holds_no_key_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("key");
        let resolve = |text: &str, mode: u32| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            KeyReference::File(path.clone()).resolve(&|_| None)
        };
        assert_eq!(resolve("the-key\n", 0o600).unwrap().unwrap().expose(), "the-key");
        assert_eq!(resolve("the-key", 0o400).unwrap().unwrap().expose(), "the-key");
        for (text, mode) in [
            ("the-key", 0o640),
            ("the-key", 0o604),
            ("", 0o600),
            ("a b", 0o600),
            (&"k".repeat(KEY_BYTES + 1), 0o600),
        ] {
            assert_eq!(resolve(text, mode).unwrap_err().code(), "MODEL_KEY_UNUSABLE", "{mode:o}");
        }
        let absent = KeyReference::File(directory.path().join("absent")).resolve(&|_| None);
        assert_eq!(absent.unwrap_err().code(), "MODEL_KEY_FILE");
        let folder = KeyReference::File(directory.path().to_owned()).resolve(&|_| None);
        assert_eq!(folder.unwrap_err().code(), "MODEL_KEY_UNUSABLE");
    }

    #[test]
    fn a_variable_that_is_not_set_is_told_by_name_and_a_key_by_nothing() {
        let reference = KeyReference::Environment("THE_KEY".to_owned());
        let error = reference.resolve(&|_| None).unwrap_err();
        assert!(error.code() == "MODEL_KEY_ABSENT" && error.to_string().contains("THE_KEY"));
        let secret = reference.resolve(&|_| Some("CANARY-key".to_owned())).unwrap().unwrap();
        assert_eq!(format!("{secret:?}"), "Secret");
        assert_eq!(secret.expose(), "CANARY-key");
    }
}
