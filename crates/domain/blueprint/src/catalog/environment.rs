use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::cursor::{Cursor, Read};
use crate::problem::{Finding, ProblemCode};
use crate::suggest::quoted;

/// The whole environment of a command. Nothing is inherited.
pub type Environment = BTreeMap<EnvironmentName, String>;

/// The most variables of one command.
const MAX_VARIABLES: usize = 64;
/// The longest value.
const MAX_VALUE_BYTES: usize = 4096;
/// The longest name.
const MAX_NAME_BYTES: usize = 128;
/// Parts of names under which secrets are usually kept.
const SECRET_PARTS: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "KEY"];

/// The name of an environment variable: `[A-Z_][A-Z0-9_]*`, none that the dynamic linker reads, and none that says that
/// a secret is in it. A catalog is read by everyone who reviews a run; a secret has no place in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct EnvironmentName(String);

/// Why a text is not a name that a command's environment may hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EnvironmentNameError {
    /// Not of the form.
    #[error("a variable is named by at most 128 of `A` to `Z`, `0` to `9` and `_`, and not by a digit first")]
    Form,
    /// Names that begin with `LD_` make the dynamic linker load code.
    #[error("variables that begin with `LD_` make the dynamic linker load other code")]
    Linker,
    /// It names a secret.
    #[error("a name with `{0}` in it names a secret, and a catalog holds none")]
    Secret(&'static str),
}

impl EnvironmentName {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for EnvironmentName {
    type Err = EnvironmentNameError;

    fn from_str(text: &str) -> Result<Self, EnvironmentNameError> {
        let is_start = |c: char| c.is_ascii_uppercase() || c == '_';
        let well_formed = text.len() <= MAX_NAME_BYTES
            && text.starts_with(is_start)
            && text.chars().all(|c| is_start(c) || c.is_ascii_digit());
        if !well_formed {
            return Err(EnvironmentNameError::Form);
        }
        if text.starts_with("LD_") {
            return Err(EnvironmentNameError::Linker);
        }
        match SECRET_PARTS.into_iter().find(|part| text.contains(part)) {
            Some(part) => Err(EnvironmentNameError::Secret(part)),
            None => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for EnvironmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for EnvironmentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub(super) fn read_environment(cursor: &Cursor<'_>) -> Read<Environment> {
    let members = cursor.members()?;
    if members.len() > MAX_VARIABLES {
        let message = format!("{} has more than {MAX_VARIABLES} variables", cursor.name());
        return Err(cursor.refuse(Finding::new(ProblemCode::OutOfRange, message, "")));
    }
    let read: Vec<Read<(EnvironmentName, String)>> =
        members.into_iter().map(|(name, value)| read_variable(name, &value)).collect();
    read.into_iter().collect()
}

fn read_variable(name: &str, value: &Cursor<'_>) -> Read<(EnvironmentName, String)> {
    let text = value.exact_text().and_then(|text| {
        value.check_length(text, 0..=MAX_VALUE_BYTES)?;
        Ok(text.to_owned())
    });
    let name = name.parse().map_err(|error: EnvironmentNameError| {
        let message = format!("the variable {} must not be set for a command", quoted(name));
        value.refuse_key(Finding::new(ProblemCode::EnvironmentRefused, message, error.to_string()))
    });
    Ok((name?, text?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_loads_code_or_names_a_secret_is_no_variable_of_a_command() {
        for good in ["PATH", "_", "PYTHONPATH", "LANG", "A1", "TZ", "LDFLAGS", "OLD_PATH"] {
            assert!(good.parse::<EnvironmentName>().is_ok(), "{good}");
        }
        for (bad, why) in [
            ("", EnvironmentNameError::Form),
            ("path", EnvironmentNameError::Form),
            ("1A", EnvironmentNameError::Form),
            ("A-B", EnvironmentNameError::Form),
            ("A=B", EnvironmentNameError::Form),
            ("LD_PRELOAD", EnvironmentNameError::Linker),
            ("LD_LIBRARY_PATH", EnvironmentNameError::Linker),
            ("GITHUB_TOKEN", EnvironmentNameError::Secret("TOKEN")),
            ("AWS_SECRET_ACCESS_KEY", EnvironmentNameError::Secret("SECRET")),
            ("PGPASSWORD", EnvironmentNameError::Secret("PASSWORD")),
            ("API_KEY", EnvironmentNameError::Secret("KEY")),
        ] {
            assert_eq!(bad.parse::<EnvironmentName>(), Err(why), "{bad}");
        }
    }
}
