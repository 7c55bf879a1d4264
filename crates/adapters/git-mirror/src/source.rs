use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use crate::limits::NAME_BYTES;

/// Where a commit is obtained from.
///
/// Written as a path, or as a URL of the scheme `file`, `https` or `ssh`. A URL names no password: those would be told
/// to everybody who lists processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source(Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Path(PathBuf),
    Url { scheme: Scheme, text: String },
}

/// A transport of git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    File,
    Https,
    Ssh,
}

/// The text is no source that anything is fetched from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// Nothing, too much, an option, or a character that is no part of a name.
    #[error(
        "{text:?} names no repository; nothing was fetched. Name a directory, or a URL with https:// or ssh://"
    )]
    Malformed {
        /// The text.
        text: String,
    },
    /// Another transport, or a program that would be one.
    #[error(
        "{text:?} is reached in a way that is not allowed; nothing was fetched. Use https://, ssh://, or a path"
    )]
    Transport {
        /// The text.
        text: String,
    },
    /// The URL holds a credential. It is not repeated here.
    #[error(
        "the URL holds a user or password; nothing was fetched. Take it out: a URL with https:// names none, and one with \
         ssh:// a user alone"
    )]
    Credential,
}

impl SourceError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "MIRROR_SOURCE_MALFORMED",
            Self::Transport { .. } => "MIRROR_SOURCE_TRANSPORT",
            Self::Credential => "MIRROR_SOURCE_CREDENTIAL",
        }
    }
}

impl Source {
    /// A directory. One that is relative is taken from the current directory.
    ///
    /// # Errors
    /// [`SourceError::Malformed`] where it is empty or too long.
    pub fn directory(path: &Path) -> Result<Self, SourceError> {
        let malformed = || SourceError::Malformed { text: path.display().to_string() };
        let absolute = std::path::absolute(path).map_err(|_| malformed())?;
        if absolute.as_os_str().len() > NAME_BYTES {
            return Err(malformed());
        }
        Ok(Self(Kind::Path(absolute)))
    }

    /// Reads a source as a person writes it.
    ///
    /// # Errors
    /// [`SourceError`] says which rule it breaks.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        let malformed = || SourceError::Malformed { text: text.to_owned() };
        let is_text = !text.is_empty() && text.len() <= NAME_BYTES && !text.chars().any(char::is_control);
        if !is_text || text.starts_with('-') {
            return Err(malformed());
        }
        let Some((scheme, rest)) = text.split_once("://") else { return Self::path(text) };
        let scheme = match scheme {
            "file" => Scheme::File,
            "https" => Scheme::Https,
            "ssh" => Scheme::Ssh,
            _ if scheme.contains('/') => return Self::path(text),
            _ => return Err(SourceError::Transport { text: text.to_owned() }),
        };
        check_place(scheme, rest, text)?;
        Ok(Self(Kind::Url { scheme, text: text.to_owned() }))
    }

    /// A colon before the first slash is how git spells a host or a transport program.
    fn path(text: &str) -> Result<Self, SourceError> {
        let first = text.split('/').next().unwrap_or_default();
        if first.contains(':') {
            return Err(SourceError::Transport { text: text.to_owned() });
        }
        Self::directory(Path::new(text))
    }

    /// Whether it is reached over a network.
    #[must_use]
    pub fn is_remote(&self) -> bool {
        matches!(self.scheme(), Scheme::Https | Scheme::Ssh)
    }

    pub(crate) const fn scheme(&self) -> Scheme {
        match &self.0 {
            Kind::Path(_) => Scheme::File,
            Kind::Url { scheme, .. } => *scheme,
        }
    }

    /// The directory, where it is named as a path.
    pub(crate) fn local_path(&self) -> Option<&Path> {
        match &self.0 {
            Kind::Path(path) => Some(path),
            Kind::Url { .. } => None,
        }
    }

    /// The directory that it names, as a path or by a URL of the scheme `file`, whose escapes git reads as such.
    pub(crate) fn directory_named(&self) -> Option<PathBuf> {
        match &self.0 {
            Kind::Path(path) => Some(path.clone()),
            Kind::Url { scheme: Scheme::File, text } => {
                let place = text.strip_prefix("file://").unwrap_or(text);
                Some(PathBuf::from(OsString::from_vec(unescaped(place.as_bytes()))))
            }
            Kind::Url { .. } => None,
        }
    }

    /// What git is told. It begins with a slash or a scheme, and so is never taken for an option.
    pub(crate) fn argument(&self) -> OsString {
        match &self.0 {
            Kind::Path(path) => path.clone().into_os_string(),
            Kind::Url { text, .. } => text.into(),
        }
    }
}

impl Scheme {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Https => "https",
            Self::Ssh => "ssh",
        }
    }
}

/// The bytes with every `%XX` read; what only looks like one stays.
fn unescaped(mut bytes: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut plain = Vec::with_capacity(bytes.len());
    while let Some((first, rest)) = bytes.split_first() {
        let escaped = match (first, rest) {
            (b'%', [high, low, ..]) => digit(*high).zip(digit(*low)),
            _ => None,
        };
        let (byte, after) = escaped.map_or((*first, rest), |(high, low)| (high * 16 + low, &rest[2..]));
        plain.push(byte);
        bytes = after;
    }
    plain
}

fn check_place(scheme: Scheme, rest: &str, text: &str) -> Result<(), SourceError> {
    let malformed = || SourceError::Malformed { text: text.to_owned() };
    let (authority, _) = rest.split_once('/').ok_or_else(malformed)?;
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    match (scheme, user) {
        (Scheme::Https, Some(_)) => return Err(SourceError::Credential),
        (Scheme::Ssh, Some(user)) if user.contains(':') => return Err(SourceError::Credential),
        _ => {}
    }
    let begins_well = |part: &str| !part.is_empty() && !part.starts_with('-');
    let fits = match scheme {
        Scheme::File => authority.is_empty(),
        Scheme::Https | Scheme::Ssh => begins_well(host) && user.is_none_or(begins_well),
    };
    if fits { Ok(()) } else { Err(malformed()) }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.argument().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_a_path_or_a_url_of_three_schemes() {
        for (text, scheme, is_remote) in [
            ("/srv/a b", Scheme::File, false),
            ("./ext::sh", Scheme::File, false),
            ("file:///srv/a", Scheme::File, false),
            ("https://example.org/a.git", Scheme::Https, true),
            ("https://[::1]:8443/a", Scheme::Https, true),
            ("ssh://git@example.org:22/a.git", Scheme::Ssh, true),
        ] {
            let source = Source::parse(text).unwrap();
            assert_eq!((source.scheme(), source.is_remote()), (scheme, is_remote), "{text}");
            let argument = source.argument();
            assert!(!argument.as_bytes().starts_with(b"-"), "{text}");
        }
        assert!(Source::parse("a").unwrap().argument().as_bytes().starts_with(b"/"));
    }

    #[test]
    fn a_directory_is_named_as_a_path_or_by_a_url() {
        for (text, directory) in [
            ("/srv/a b", Some("/srv/a b")),
            ("file:///srv/a%20b", Some("/srv/a b")),
            ("file:///srv/100%", Some("/srv/100%")),
            ("file:///srv/%zz%2", Some("/srv/%zz%2")),
            ("https://example.org/a.git", None),
        ] {
            let source = Source::parse(text).unwrap();
            assert_eq!(source.directory_named(), directory.map(PathBuf::from), "{text}");
        }
    }

    #[test]
    fn what_could_start_a_program_or_hold_a_secret_is_refused() {
        for (text, code) in [
            ("", "MIRROR_SOURCE_MALFORMED"),
            ("-oProxyCommand=x", "MIRROR_SOURCE_MALFORMED"),
            ("--upload-pack=x", "MIRROR_SOURCE_MALFORMED"),
            ("a\nb", "MIRROR_SOURCE_MALFORMED"),
            ("https://", "MIRROR_SOURCE_MALFORMED"),
            ("https:///a", "MIRROR_SOURCE_MALFORMED"),
            ("file://host/a", "MIRROR_SOURCE_MALFORMED"),
            ("ssh://-oProxyCommand=x/a", "MIRROR_SOURCE_MALFORMED"),
            ("ssh://-x@host/a", "MIRROR_SOURCE_MALFORMED"),
            ("ext::sh -c x", "MIRROR_SOURCE_TRANSPORT"),
            ("git@host:a.git", "MIRROR_SOURCE_TRANSPORT"),
            ("git://host/a", "MIRROR_SOURCE_TRANSPORT"),
            ("http://host/a", "MIRROR_SOURCE_TRANSPORT"),
            ("HTTPS://host/a", "MIRROR_SOURCE_TRANSPORT"),
            ("https://user:secret@host/a", "MIRROR_SOURCE_CREDENTIAL"),
            ("https://token@host/a", "MIRROR_SOURCE_CREDENTIAL"),
            ("ssh://git:secret@host/a", "MIRROR_SOURCE_CREDENTIAL"),
        ] {
            let error = Source::parse(text).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
