use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ambit_ids::{Content, Digest, Scope};

/// The most bytes of each of the two generations. Together they hold the contents that a run works on, and no repository.
const GENERATION_BYTES: usize = 8 << 20;
/// The largest content that is held; one file alone shall not push out all others.
const LARGEST_BYTES: usize = 1 << 20;

/// The contents that were used last, held in memory of this process.
///
/// Each is a [`Content`], so it was hashed when it was read or made, and nothing outside of this process can change it since.
/// What a digest names can never be other bytes, so nothing here can be stale. That a blob is gone or was altered after it was
/// read is told to whoever reads it anew, not to those who need its bytes once more.
#[derive(Default)]
pub(crate) struct HeldContents(Mutex<Generations>);

/// Whatever is used goes to the young ones. When they are too many they become the old ones, and those are forgotten.
#[derive(Default)]
struct Generations {
    young: BTreeMap<Scope, BTreeMap<Digest, Content>>,
    young_bytes: usize,
    old: BTreeMap<Scope, BTreeMap<Digest, Content>>,
}

impl HeldContents {
    /// Those of `digests` that are held for this scope.
    pub(crate) fn get(&self, scope: &Scope, digests: &[Digest]) -> Vec<Content> {
        let mut held = self.lock();
        digests.iter().filter_map(|digest| held.get(scope, digest)).collect()
    }

    /// Holds contents that lie in the blobs of this scope.
    pub(crate) fn put<'c>(&self, scope: &Scope, contents: impl Iterator<Item = &'c Content>) {
        let mut held = self.lock();
        for content in contents.filter(|content| content.bytes().len() <= LARGEST_BYTES) {
            if held.get(scope, &content.digest()).is_none() {
                held.hold(scope, content.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Generations {
    fn get(&mut self, scope: &Scope, digest: &Digest) -> Option<Content> {
        if let Some(content) = self.young.get(scope).and_then(|young| young.get(digest)) {
            return Some(content.clone());
        }
        let content = self.old.get_mut(scope).and_then(|old| old.remove(digest))?;
        self.hold(scope, content.clone());
        Some(content)
    }

    fn hold(&mut self, scope: &Scope, content: Content) {
        if self.young_bytes + content.bytes().len() > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += content.bytes().len();
        let digest = content.digest();
        match self.young.get_mut(scope) {
            Some(young) => {
                young.insert(digest, content);
            }
            None => {
                self.young.insert(scope.clone(), BTreeMap::from([(digest, content)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str) -> Scope {
        Scope { organization: "acme".parse().unwrap(), project: project.parse().unwrap() }
    }

    fn content(number: usize, size_bytes: usize) -> Content {
        let mut bytes = number.to_be_bytes().to_vec();
        bytes.resize(size_bytes, 0);
        Content::of(bytes)
    }

    #[test]
    fn a_content_is_held_for_its_scope_alone() {
        let (held, content) = (HeldContents::default(), content(1, 9));
        held.put(&scope("shop"), [&content].into_iter());
        let digests = [Content::of(Vec::new()).digest(), content.digest()];
        assert_eq!(held.get(&scope("shop"), &digests), [content]);
        assert_eq!(held.get(&scope("depot"), &digests), []);
    }

    #[test]
    fn what_is_used_stays_and_what_is_not_is_forgotten() {
        let (held, scope) = (HeldContents::default(), scope("shop"));
        let contents: Vec<Content> = (0..24).map(|number| content(number, LARGEST_BYTES)).collect();
        let is_held = |number: usize| !held.get(&scope, &[contents[number].digest()]).is_empty();
        held.put(&scope, [&contents[0], &contents[1]].into_iter());
        for content in &contents[2..] {
            held.put(&scope, [content].into_iter());
            assert!(is_held(0), "it was used a moment ago");
        }
        assert!(is_held(23) && !is_held(1));
        let all: Vec<Digest> = contents.iter().map(Content::digest).collect();
        let bytes: usize = held.get(&scope, &all).iter().map(|content| content.bytes().len()).sum();
        assert!(bytes <= 2 * GENERATION_BYTES, "{bytes}");
        let large = content(24, LARGEST_BYTES + 1);
        held.put(&scope, [&large].into_iter());
        assert_eq!(held.get(&scope, &[large.digest()]), []);
    }
}
