//! What the next leases will most likely ask for: the same as the latest, and on the same trees.
//!
//! A tree is foreseen for a scope once two of its leases one after the other brought it first. A slot with a tree is of
//! that tenant only; where several tenants come, some slots stay without.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ambit_ids::{Digest, Scope};

use crate::slot::{Fittings, Foreseen};
use crate::trees::Held;

/// So many scopes have a tree that is foreseen, and kept for it.
const SCOPES: usize = 16;
/// Where several tenants come, one slot of so many has no tree.
const ONE_WITHOUT: usize = 4;

/// What was asked for so far.
#[derive(Default)]
pub(crate) struct Forecast {
    /// What the latest leases asked for, the newest last.
    recent: VecDeque<(Arc<Fittings>, Scope)>,
    /// What they brought first, by scope, the newest last.
    trees: VecDeque<Seen>,
}

/// The tree that the latest lease of a scope brought first.
struct Seen {
    foreseen: Foreseen,
    /// Whether the lease before that did so as well.
    is_likely: bool,
    /// Slots of a kind with this tree in them.
    fittings: BTreeMap<Digest, Arc<Fittings>>,
}

impl Forecast {
    /// Learns what a lease asks for.
    pub(crate) fn remember(&mut self, fittings: &Arc<Fittings>, scope: &Scope, size: usize) {
        self.recent.push_back((Arc::clone(fittings), scope.clone()));
        while self.recent.len() > size.max(1) {
            self.recent.pop_front();
        }
    }

    /// Learns which tree a lease brought first; answers whether the next slots will be others for it.
    pub(crate) fn brought(&mut self, scope: &Scope, tree: Digest, held: Arc<Held>) -> bool {
        let at = self.trees.iter().position(|seen| seen.foreseen.scope == *scope);
        let before = at.and_then(|at| self.trees.remove(at));
        let was_likely = before.as_ref().is_some_and(|seen| seen.is_likely);
        let seen = match before {
            Some(seen) if seen.foreseen.tree == tree && seen.foreseen.held.batch == held.batch => {
                Seen { is_likely: true, ..seen }
            }
            _ => Seen {
                foreseen: Foreseen { scope: scope.clone(), tree, held },
                is_likely: false,
                fittings: BTreeMap::new(),
            },
        };
        let is_likely = seen.is_likely;
        self.trees.push_back(seen);
        while self.trees.len() > SCOPES {
            self.trees.pop_front();
        }
        is_likely != was_likely
    }

    /// What a lease of this scope that asks for these is served with best.
    pub(crate) fn likely(&mut self, fittings: &Arc<Fittings>, scope: &Scope) -> Arc<Fittings> {
        let seen = self.trees.iter_mut().find(|seen| seen.is_likely && seen.foreseen.scope == *scope);
        let Some(seen) = seen else { return Arc::clone(fittings) };
        let with_tree = || Arc::new(fittings.with_tree(seen.foreseen.clone()));
        Arc::clone(seen.fittings.entry(fittings.kind()).or_insert_with(with_tree))
    }

    /// How many slots of each kind there should be, of so many.
    pub(crate) fn wanted(&mut self, size: usize) -> BTreeMap<Digest, (usize, Arc<Fittings>)> {
        let recent = std::mem::take(&mut self.recent);
        let mut wanted: BTreeMap<Digest, (usize, Arc<Fittings>)> = BTreeMap::new();
        let mut add = |fittings: Arc<Fittings>, count| {
            wanted.entry(fittings.kind()).or_insert((0, fittings)).0 += count;
        };
        let several = recent.iter().any(|(_, scope)| recent.front().is_some_and(|(_, first)| scope != first));
        for (index, (plain, scope)) in recent.iter().enumerate() {
            let stays_plain = several && index % ONE_WITHOUT == 0;
            add(if stays_plain { Arc::clone(plain) } else { self.likely(plain, scope) }, 1);
        }
        if let Some((plain, scope)) = recent.back() {
            add(self.likely(plain, scope), size.saturating_sub(recent.len()));
        }
        self.recent = recent;
        wanted
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use ambit_ids::{ByteCount, DurationMs, ExecutionLimits};

    use super::*;
    use crate::trees::Trees;

    const LIMITS: ExecutionLimits = ExecutionLimits {
        memory_bytes: ByteCount::new(64 << 20),
        processes: 8,
        cpu_millis: 1000,
        cpu_time_ms: DurationMs::new(1000),
        wall_ms: DurationMs::new(1000),
        disk_bytes: ByteCount::new(1 << 20),
        output_bytes: ByteCount::new(1 << 10),
    };

    fn scope(name: &str) -> Scope {
        Scope { organization: name.parse().unwrap(), project: "p".parse().unwrap() }
    }

    fn held(place: &Path, name: &str) -> Arc<Held> {
        let directory = place.join(name);
        std::fs::create_dir_all(directory.join("tree")).unwrap();
        std::fs::write(directory.join("about"), format!("{} 1 1\n", Digest::of(name.as_bytes()))).unwrap();
        Arc::new(Trees::hold(directory).unwrap().unwrap())
    }

    /// How many slots with and without a tree are wanted.
    fn split(forecast: &mut Forecast, size: usize) -> (usize, usize) {
        forecast.wanted(size).values().fold((0, 0), |(with, without), (count, fittings)| {
            if fittings.tree.is_some() { (with + count, without) } else { (with, without + count) }
        })
    }

    #[test]
    fn a_tree_is_foreseen_once_it_came_twice_and_no_longer_than_it_comes() {
        let place = tempfile::tempdir().unwrap();
        let (mut forecast, one) = (Forecast::default(), scope("one"));
        let plain = Arc::new(Fittings::new("/image".into(), Vec::new(), LIMITS, &one));
        let (tree, other) = (Digest::of(b"tree"), Digest::of(b"other"));
        let [of_tree, of_other] = ["tree", "other"].map(|name| held(place.path(), name));
        forecast.remember(&plain, &one, 4);
        for (brought, held, wanted) in [
            (tree, &of_tree, (0, 4)),
            (tree, &of_tree, (4, 0)),
            (other, &of_other, (0, 4)),
            (tree, &of_tree, (0, 4)),
            // The same name for other files.
            (tree, &of_other, (0, 4)),
            (tree, &of_other, (4, 0)),
        ] {
            forecast.brought(&one, brought, Arc::clone(held));
            assert_eq!(split(&mut forecast, 4), wanted, "{brought}");
        }
        let likely = forecast.likely(&plain, &one).kind();
        assert_ne!(likely, plain.kind());
        assert_eq!(forecast.likely(&plain, &scope("two")).kind(), plain.kind());
        assert!(forecast.wanted(4).contains_key(&likely));
    }

    #[test]
    fn where_several_tenants_come_some_slots_are_of_none() {
        let place = tempfile::tempdir().unwrap();
        let mut forecast = Forecast::default();
        let held = held(place.path(), "tree");
        for number in 0..8 {
            let scope = scope(["one", "two"][number % 2]);
            let plain = Arc::new(Fittings::new("/image".into(), Vec::new(), LIMITS, &scope));
            forecast.remember(&plain, &scope, 8);
            forecast.brought(&scope, Digest::of(b"tree"), Arc::clone(&held));
        }
        assert_eq!(split(&mut forecast, 8), (6, 2));
    }
}
