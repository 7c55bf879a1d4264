use ambit_ids::{ByteCount, Digest, RepoPath, RevisionId, limits};
use ambit_redaction::{Redacted, Redactions};
use ambit_revision::tree::Files;
use ambit_revision::{FileKind, Tree};
use ambit_run::Observation;
use serde_json::json;

use crate::assess::named_tree;
use crate::error::BrokerError;
use crate::ground::Ground;
use crate::performed::Performed;
use crate::source::Source;

/// The most places that one search answers.
const MATCHES: usize = 200;
/// How much of a matching line is shown.
const LINE_CHARS: usize = 240;

impl Source {
    pub(crate) async fn read_file(
        &self,
        ground: &Ground,
        head: Digest,
        revision: RevisionId,
        path: &RepoPath,
    ) -> Result<Performed, BrokerError> {
        let tree = self.revisions.load(ground.scope(), named_tree(ground, head, revision)).await?;
        let Some(file) = tree.get(path).filter(|file| file.kind != FileKind::Link) else {
            return Err(BrokerError::Altered("the file is gone from the tree"));
        };
        let bytes = self.revisions.content(ground.scope(), path, file).await?;
        let Redacted { text, redactions } = self.redactor.bytes(&bytes);
        let (content, truncated) = window(&text);
        let reply = json!({"content": content, "sha256": file.content, "truncated": truncated});
        let observation = Observation::FileRead {
            path: path.clone(),
            sha256: file.content,
            bytes: file.size,
            truncated,
            redactions: Some(redactions),
        };
        Ok(Performed { observation, reply })
    }

    pub(crate) async fn list_files(
        &self,
        ground: &Ground,
        head: Digest,
        revision: RevisionId,
        under: Option<&RepoPath>,
    ) -> Result<Performed, BrokerError> {
        let tree = self.revisions.load(ground.scope(), named_tree(ground, head, revision)).await?;
        let mut room = limits::READ_BYTES;
        let mut truncated = false;
        let mut files = Vec::new();
        for (path, _) in files_under(&tree, under) {
            let text = path.to_string();
            match room.checked_sub(text.len() + 4) {
                Some(left) => room = left,
                None => {
                    truncated = true;
                    break;
                }
            }
            files.push(text);
        }
        let count = u32::try_from(files.len()).unwrap_or(u32::MAX);
        Ok(Performed {
            observation: Observation::FilesListed { count, truncated },
            reply: json!({"files": files, "truncated": truncated}),
        })
    }

    pub(crate) async fn search_text(
        &self,
        ground: &Ground,
        head: Digest,
        revision: RevisionId,
        text: &str,
        under: Option<&RepoPath>,
    ) -> Result<Performed, BrokerError> {
        let tree = self.revisions.load(ground.scope(), named_tree(ground, head, revision)).await?;
        let finder = memchr::memmem::Finder::new(text.as_bytes());
        let mut matches = Vec::new();
        let mut redactions = Redactions::default();
        let mut truncated = false;
        'files: for (path, file) in files_under(&tree, under) {
            if file.kind == FileKind::Link || file.size < ByteCount::new(text.len() as u64) {
                continue;
            }
            let bytes = self.revisions.content(ground.scope(), &path, file).await?;
            if memchr::memchr(0, &bytes).is_some() || finder.find(&bytes).is_none() {
                continue;
            }
            // Who searches for a secret is not told that it was found, or it could be guessed letter by letter.
            let clean = self.redactor.bytes(&bytes);
            redactions = redactions.and(&clean.redactions);
            for (number, line) in clean.text.split(|byte| *byte == b'\n').enumerate() {
                if finder.find(line).is_none() {
                    continue;
                }
                if matches.len() == MATCHES {
                    truncated = true;
                    break 'files;
                }
                let shown: String = String::from_utf8_lossy(line).chars().take(LINE_CHARS).collect();
                matches.push(format!("{path}:{}: {shown}", number + 1));
            }
        }
        let count = u32::try_from(matches.len()).unwrap_or(u32::MAX);
        Ok(Performed {
            observation: Observation::TextFound { count, truncated, redactions: Some(redactions) },
            reply: json!({"matches": matches, "truncated": truncated}),
        })
    }
}

fn files_under<'t>(tree: &'t Tree, under: Option<&RepoPath>) -> Files<'t> {
    match under {
        Some(under) => tree.files_under(under),
        None => tree.files(),
    }
}

/// The beginning of a file as text, cut at a character.
fn window(bytes: &[u8]) -> (String, bool) {
    let text = String::from_utf8_lossy(bytes);
    if text.len() <= limits::READ_BYTES {
        return (text.into_owned(), false);
    }
    let mut end = limits::READ_BYTES;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (text[..end].to_owned(), true)
}
