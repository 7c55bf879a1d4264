//! The documents of a repository, in its directory `.ambit`. They are text of the repository: what holds is what the
//! user agreed to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use ambit_blueprint::{Blueprint, ExecutionCapabilityProfile, NamedCommandCatalog};
use ambit_canonical::CanonicalBytes;
use ambit_ids::{Digest, DocumentName, limits};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, mkdirat, open, openat, unlinkat};
use rustix::io::Errno;
use serde_json::Value;

use crate::bound::Texts;
use crate::failure::Failure;
use crate::terminal::QUOTED;

/// Where the documents lie in a repository.
pub(crate) const DIRECTORY: &str = ".ambit";
/// The documents, in the order of [`Texts`].
pub(crate) const FILES: [&str; 3] = ["blueprint.yaml", "commands.yaml", "profile.yaml"];

const READ: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The documents, read.
pub(crate) struct Documents {
    pub(crate) template: Blueprint,
    catalog: NamedCommandCatalog,
    profile: ExecutionCapabilityProfile,
}

impl Texts {
    fn each(&self) -> [(&'static str, &str); 3] {
        let [blueprint, commands, profile] = FILES;
        [(blueprint, &self.blueprint), (commands, &self.commands), (profile, &self.profile)]
    }

    /// What stands in a repository now.
    pub(crate) fn read(root: &Path) -> Result<Self, Failure> {
        let text = |name: &str| {
            let bytes = plain_file(root, &[DIRECTORY, name], limits::DOCUMENT_BYTES)?.ok_or_else(|| {
                Failure::new("PREPARATION_MISSING", format!("{DIRECTORY}/{name} is not there any more"))
                    .help("nothing was started; bring it back, or write all of them anew with `ambit init --replace`")
            })?;
            String::from_utf8(bytes).map_err(|error| Failure::of("DOCUMENT_ENCODING", &error))
        };
        let [blueprint, commands, profile] = FILES;
        Ok(Self { blueprint: text(blueprint)?, commands: text(commands)?, profile: text(profile)? })
    }

    pub(crate) fn parse(&self) -> Result<Documents, Failure> {
        let named = |name: &str| format!("{DIRECTORY}/{name}");
        let [blueprint, commands, profile] = FILES;
        Ok(Documents {
            template: Blueprint::parse(&named(blueprint), self.blueprint.as_bytes())
                .map_err(Failure::of_document)?,
            catalog: NamedCommandCatalog::parse(&named(commands), self.commands.as_bytes())
                .map_err(Failure::of_document)?,
            profile: ExecutionCapabilityProfile::parse(&named(profile), self.profile.as_bytes())
                .map_err(Failure::of_document)?,
        })
    }

    /// Writes the documents into a repository, in the place of those that are there.
    pub(crate) fn write(&self, root: &Path) -> Result<(), Failure> {
        let unwritable = |name: &str, error: &dyn std::fmt::Display| {
            Failure::new("USAGE_FILE_UNWRITABLE", format!("{DIRECTORY}/{name} cannot be written: {error}"))
                .help("what was written before it is kept; no run starts from it before `ambit init` is done")
        };
        let top = directory(root).map_err(|errno| unwritable("", &errno))?;
        match mkdirat(&top, DIRECTORY, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(unwritable("", &errno)),
        }
        let place = openat(&top, DIRECTORY, READ.union(OFlags::DIRECTORY), Mode::empty())
            .map_err(|errno| unwritable("", &errno))?;
        for (name, text) in self.each() {
            match unlinkat(&place, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(unwritable(name, &errno)),
            }
            let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let file = openat(&place, name, new, Mode::from_raw_mode(0o644));
            let mut file = File::from(file.map_err(|errno| unwritable(name, &errno))?);
            file.write_all(text.as_bytes()).map_err(|error| unwritable(name, &error))?;
        }
        Ok(())
    }

    /// What a newer text says otherwise, key by key; nothing where only remarks and spelling differ.
    pub(crate) fn changes(&self, newer: &Self) -> Result<Changes, Failure> {
        let (before, after) = (self.parse()?.values()?, newer.parse()?.values()?);
        let mut changes = Changes { told: String::new(), is_whole: true };
        for (name, (old, new)) in FILES.into_iter().zip(before.iter().zip(&after)) {
            if old != new {
                let Changes { told, is_whole } = difference(old, new);
                changes.told.push_str(&format!("{DIRECTORY}/{name}\n{told}"));
                changes.is_whole &= is_whole;
            }
        }
        Ok(changes)
    }
}

/// What documents say otherwise than before.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The keys with both values; empty where nothing differs.
    pub(crate) told: String,
    /// Whether that is all of it. Nobody can agree to the rest by looking at this.
    pub(crate) is_whole: bool,
}

impl Documents {
    /// The documents as their canonical values.
    fn values(&self) -> Result<[Value; 3], Failure> {
        let failed = |error| Failure::of("DOCUMENT_NOT_CANONICAL", &error);
        let value = |bytes: CanonicalBytes| {
            serde_json::from_slice(bytes.as_bytes()).map_err(|error| Failure::of("OUTPUT_UNWRITABLE", &error))
        };
        Ok([
            value(self.template.to_canonical().map_err(failed)?)?,
            value(self.catalog.to_canonical().map_err(failed)?)?,
            value(self.profile.to_canonical().map_err(failed)?)?,
        ])
    }

    /// The catalog and the profile under names that follow from what they say. What is registered under a name never
    /// changes, and whoever edits the files need not count versions.
    pub(crate) fn named_by_content(
        self,
    ) -> Result<(NamedCommandCatalog, ExecutionCapabilityProfile), Failure> {
        let unnamed = |error| Failure::of("DOCUMENT_NOT_CANONICAL", &error);
        let name = |name: &str, digest: Digest| {
            let short: String = name.chars().take(40).collect();
            DocumentName::new(format!("{short}-{}", digest.short()))
                .map_err(|error| Failure::of("DOCUMENT_NAME", &error))
        };
        let (mut catalog, mut profile) = (self.catalog, self.profile);
        let digest = catalog.digest().map_err(unnamed)?;
        catalog.metadata.name = name(catalog.metadata.name.as_str(), digest)?;
        let reference = format!("policy://{}/v{}", catalog.metadata.name, catalog.metadata.version);
        profile.spec.policy_refs.commands =
            reference.parse().map_err(|error| Failure::of("POLICY_UNRESOLVED", &error))?;
        let digest = profile.digest().map_err(unnamed)?;
        profile.metadata.name = name(profile.metadata.name.as_str(), digest)?;
        Ok((catalog, profile))
    }
}

/// Whether a repository holds any of the documents, whatever lies there.
pub(crate) fn is_written(root: &Path) -> bool {
    let place = root.join(DIRECTORY);
    let is_there = |path: &Path| path.symlink_metadata().is_ok();
    let is_odd = place.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir());
    is_odd || FILES.iter().any(|name| is_there(&place.join(name)))
}

/// The bytes of an ordinary file below a directory, reached through no link. `None` where there is nothing.
pub(crate) fn plain_file(root: &Path, parts: &[&str], limit: usize) -> Result<Option<Vec<u8>>, Failure> {
    let path = parts.join("/");
    let unreadable = |why: &dyn std::fmt::Display| {
        Failure::new("USAGE_FILE_UNREADABLE", format!("{path} cannot be read: {why}"))
            .help("nothing was started")
    };
    let Some((name, above)) = parts.split_last() else { return Ok(None) };
    let mut place = directory(root).map_err(|errno| unreadable(&errno))?;
    for part in above {
        place = match openat(&place, *part, READ.union(OFlags::DIRECTORY), Mode::empty()) {
            Ok(opened) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Err(errno) => return Err(unreadable(&errno)),
        };
    }
    let opened = match openat(&place, *name, READ | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty()) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(unreadable(&"it is a link")),
        Err(errno) => return Err(unreadable(&errno)),
    };
    let stat = fstat(&opened).map_err(|errno| unreadable(&errno))?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(unreadable(&"it is no ordinary file"));
    }
    let mut bytes = Vec::new();
    File::from(opened).take(limit as u64 + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() > limit {
        return Err(unreadable(&format_args!("it has more than the {limit} bytes that are read")));
    }
    Ok(Some(bytes))
}

fn directory(path: &Path) -> Result<OwnedFd, Errno> {
    open(path, READ.union(OFlags::DIRECTORY), Mode::empty())
}

/// How many changed keys are shown of one document.
const SHOWN_KEYS: usize = 100;
/// How much of a value is shown.
const SHOWN_CHARS: usize = 4_000;

/// The keys whose values differ, with both.
fn difference(old: &Value, new: &Value) -> Changes {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    leaves(String::new(), old, &mut before);
    leaves(String::new(), new, &mut after);
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing: Vec<&String> =
        keys.into_iter().filter(|key| before.get(*key) != after.get(*key)).collect();
    let mut is_whole = differing.len() <= SHOWN_KEYS;
    let mut side = |value: Option<&String>| {
        let Some(value) = value else { return "nothing".to_owned() };
        let shown: String = value.chars().take(SHOWN_CHARS).collect();
        is_whole &= shown.len() == value.len();
        if shown.len() < value.len() { format!("{shown} ...") } else { shown }
    };
    let mut told = String::new();
    for key in differing.iter().take(SHOWN_KEYS) {
        told.push_str(&format!("{QUOTED}{key}: {} -> {}\n", side(before.get(*key)), side(after.get(*key))));
    }
    if differing.len() > SHOWN_KEYS {
        told.push_str(&format!("  and {} more\n", differing.len() - SHOWN_KEYS));
    }
    Changes { told, is_whole }
}

/// Every value that is no mapping, under its path. A list of plain values is one.
fn leaves(path: String, value: &Value, into: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                leaves(path, value, into);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (index, item) in items.iter().enumerate() {
                leaves(format!("{path}[{index}]"), item, into);
            }
        }
        plain => drop(into.insert(path, plain.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_names_the_keys_and_shows_both_values() {
        let old = json!({"a": {"b": 1, "same": [1]}, "list": ["x"], "steps": [{"id": "s"}]});
        let new =
            json!({"a": {"b": 2, "same": [1]}, "list": ["x", "y"], "steps": [{"id": "s"}, {"id": "t"}]});
        let told = "  | a.b: 1 -> 2\n  | list: [\"x\"] -> [\"x\",\"y\"]\n  | steps[1].id: nothing -> \"t\"\n";
        assert_eq!(difference(&old, &new), Changes { told: told.to_owned(), is_whole: true });
        assert_eq!(difference(&old, &old), Changes { told: String::new(), is_whole: true });
    }

    #[test]
    fn changes_that_are_not_shown_whole_say_so() {
        let keys = |count| json!((0..count).map(|key| (format!("k{key}"), 1)).collect::<BTreeMap<_, _>>());
        let many = difference(&keys(1), &keys(SHOWN_KEYS + 12));
        assert!(many.told.ends_with("  and 11 more\n") && !many.is_whole, "{}", many.told);
        assert!(difference(&keys(1), &keys(SHOWN_KEYS + 1)).is_whole);
        for (chars, is_whole) in [(SHOWN_CHARS - 2, true), (SHOWN_CHARS - 1, false)] {
            let long = difference(&json!({"a": 1}), &json!({"a": "x".repeat(chars)}));
            assert_eq!(long.is_whole, is_whole, "{chars} and the quotes around them");
        }
    }

    #[test]
    fn a_file_behind_a_link_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("x"), "secret").unwrap();
        std::fs::write(dir.path().join("plain"), "open").unwrap();
        std::os::unix::fs::symlink(outside.path().join("x"), dir.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("over")).unwrap();
        assert_eq!(plain_file(dir.path(), &["plain"], 9).unwrap().unwrap(), b"open");
        assert_eq!(plain_file(dir.path(), &["none"], 9).unwrap(), None);
        for refused in [&["link"][..], &["over", "x"], &["plain", "x"]] {
            assert!(plain_file(dir.path(), refused, 9).is_err(), "{refused:?}");
        }
        assert!(plain_file(dir.path(), &["plain"], 3).is_err(), "too large");
    }
}
