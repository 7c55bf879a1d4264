//! The bundle of a real run, which every later version must verify, and what an attacker without the key can make of it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ambit_bundle::{Manifest, Member};
use ambit_ids::{ByteCount, Digest};
use serde_json::Value;
use tempfile::TempDir;

/// A copy of the bundle, as a directory.
pub(crate) struct Golden {
    place: TempDir,
}

/// What a verification came to.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) exit: i32,
    pub(crate) json: Value,
}

pub(crate) fn kept(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Text of one field of a header.
fn field(bytes: &[u8]) -> String {
    let text = bytes.split(|byte| *byte == 0).next().unwrap();
    String::from_utf8(text.to_vec()).unwrap()
}

impl Golden {
    pub(crate) fn new() -> Self {
        let golden = Self { place: TempDir::new().unwrap() };
        let tar = fs::read(kept("completed.tar")).unwrap();
        let mut rest = tar.as_slice();
        while rest[0] != 0 {
            let (prefix, name) = (field(&rest[345..500]), field(&rest[..100]));
            let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            let size = usize::from_str_radix(&field(&rest[124..136]), 8).unwrap();
            golden.put(&name, &rest[512..512 + size]);
            rest = &rest[512 + size.next_multiple_of(512)..];
        }
        golden
    }

    pub(crate) fn dir(&self) -> PathBuf {
        self.place.path().join("bundle")
    }

    pub(crate) fn root(&self) -> PathBuf {
        kept("trust-root.json")
    }

    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.dir().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.dir().join(name)).unwrap()
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.dir().join(name)).unwrap();
    }

    pub(crate) fn manifest(&self) -> Manifest {
        Manifest::read(&self.get("bundle.json")).unwrap()
    }

    /// Lists what lies there now, which whoever can write to the bundle can do.
    pub(crate) fn list_again(&self) {
        let mut manifest = self.manifest();
        let mut names = Vec::new();
        gather(&self.dir(), "", &mut names);
        names.retain(|name| name != "bundle.json");
        names.sort();
        manifest.members = names
            .into_iter()
            .map(|name| {
                let bytes = self.get(&name);
                let size_bytes = ByteCount::new(bytes.len() as u64);
                Member { name, digest: Digest::of(&bytes), size_bytes }
            })
            .collect();
        self.put("bundle.json", &manifest.to_bytes().unwrap());
    }

    /// The records of the run.
    pub(crate) fn records(&self) -> Vec<Value> {
        let text = String::from_utf8(self.get("trace.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Writes records in the place of those of the run, each with the position and the hash of the one before, from `from`
    /// on, and lists what is there.
    pub(crate) fn rechain(&self, mut records: Vec<Value>, from: usize) {
        let mut before: Option<Digest> = None;
        let mut lines = Vec::new();
        for (seq, record) in records.iter_mut().enumerate() {
            if seq >= from {
                record["seq"] = seq.into();
                if let Some(before) = before {
                    record["prev"] = before.to_string().into();
                }
            }
            let bytes = ambit_canonical::encode(record).unwrap().into_bytes();
            before = Some(ambit_canonical::leaf_hash(&bytes));
            lines.extend_from_slice(&bytes);
            lines.push(b'\n');
        }
        self.put("trace.jsonl", &lines);
        self.head_to(records.len() as u64 - 1, before.unwrap());
        self.list_again();
    }

    /// Lets the head name another end; its signature stays, since there is no key to make one.
    pub(crate) fn head_to(&self, seq: u64, leaf: Digest) {
        let mut head: Value = serde_json::from_slice(&self.get("trace-head.json")).unwrap();
        (head["seq"], head["leaf"]) = (seq.into(), leaf.to_string().into());
        self.put("trace-head.json", ambit_canonical::encode(&head).unwrap().as_bytes());
    }

    pub(crate) fn verify(&self) -> Judged {
        self.verify_by(&self.root())
    }

    pub(crate) fn verify_by(&self, root: &Path) -> Judged {
        judged(&program().arg(self.dir()).arg("--trust-root").arg(root).arg("--json").output().unwrap())
    }
}

/// The program, in an environment of its own.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ambit-verify"));
    command.env_clear();
    command
}

pub(crate) fn judged(output: &Output) -> Judged {
    let told = if output.stdout.is_empty() { &output.stderr } else { &output.stdout };
    let json = serde_json::from_slice(told).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    Judged { exit: output.status.code().unwrap_or(-1), json }
}

fn gather(dir: &Path, above: &str, names: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        let name = format!("{above}{}", entry.file_name().into_string().unwrap());
        if entry.file_type().unwrap().is_dir() {
            gather(&entry.path(), &format!("{name}/"), names);
        } else {
            names.push(name);
        }
    }
}

impl Judged {
    fn check(&self, id: &str) -> &Value {
        let checks = self.json["report"]["checks"].as_array().unwrap_or_else(|| panic!("{self:?}"));
        checks.iter().find(|check| check["id"] == id).unwrap()
    }

    pub(crate) fn standing(&self, id: &str) -> &str {
        self.check(id)["standing"].as_str().unwrap()
    }

    /// What was found by a check, as text.
    pub(crate) fn found(&self, id: &str) -> String {
        self.check(id)["findings"].to_string()
    }

    pub(crate) fn not_covered(&self) -> Vec<&str> {
        self.json["notCovered"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
    }

    /// Refuted by a check whose finding says this.
    #[track_caller]
    pub(crate) fn refuted(&self, what: &str, id: &str, why: &str) {
        assert_eq!((self.exit, self.standing(id)), (10, "refuted"), "{what}: {}", self.json);
        assert!(self.found(id).contains(why), "{what}: {}", self.found(id));
    }
}
