//! Manifests: whether a dependency is held to one version, and where it comes from.

mod listed;

use std::collections::BTreeSet;

use ambit_policy::FactKind;

use super::compare::Document;
use super::kind::Family;
use super::told::{Spot, Told};
use listed::{Named, named};

/// Compares what the manifests of one family in one directory name.
pub(super) fn compare(family: Family, documents: &[Document<'_>], told: &mut Told) {
    for document in documents {
        let was = named(family, document.path, &document.before);
        let is = named(family, document.path, &document.after);
        let names: BTreeSet<(&str, &str)> = was.iter().map(|one| (one.group, one.name.as_str())).collect();
        let is_new_file = document.before.entries().is_empty();
        for (group, name) in names {
            let of = |side: &[Named]| -> Vec<Named> {
                side.iter().filter(|one| one.group == group && one.name == name).cloned().collect()
            };
            held(document, &of(&was), &of(&is), told);
        }
        for new in is.iter().filter(|new| new.redirects && !is_new_file) {
            let old = was.iter().find(|old| old.redirects && old.group == new.group && old.name == new.name);
            if old.is_none_or(|old| old.text != new.text) {
                let old = old.map(|old| old.text.clone()).unwrap_or_default();
                told.tell(FactKind::DependencyMoved, Spot::after(document.path, new.line), &old, &new.text);
            }
        }
        for old in was.iter().filter(|old| old.must_stay && !is.iter().any(|new| new.text == old.text)) {
            told.tell(FactKind::DependencyUnpinned, Spot::before(document.path, old.line), &old.text, "");
        }
    }
}

/// One dependency, which a manifest may name more than once.
fn held(document: &Document<'_>, was: &[Named], is: &[Named], told: &mut Told) {
    let (Some(old), Some(new)) = (was.first(), is.first()) else { return };
    if old.redirects || new.redirects {
        return;
    }
    let other = is.iter().find(|new| !was.iter().any(|old| old.source == new.source));
    if let Some(new) = other.filter(|new| new.source.is_some()) {
        let spot = Spot::after(document.path, new.line);
        told.tell(FactKind::DependencyMoved, spot, &old.text, &new.text);
        return;
    }
    let range = is.iter().find(|new| !new.is_exact && new.source.is_none());
    if let Some(range) = range.filter(|_| was.iter().all(|old| old.is_exact)) {
        told.tell(
            FactKind::DependencyUnpinned,
            Spot::after(document.path, range.line),
            &old.text,
            &range.text,
        );
    }
    let bare = is.iter().find(|new| !new.is_hashed);
    if let Some(bare) = bare.filter(|_| was.iter().all(|old| old.is_hashed)) {
        told.tell(FactKind::DependencyUnpinned, Spot::after(document.path, bare.line), &old.text, &bare.text);
    }
}
