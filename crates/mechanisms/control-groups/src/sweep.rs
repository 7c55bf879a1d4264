//! Removing what is left of groups.

use std::fs;
use std::time::Duration;

use crate::layout::{Layout, PREFIX};
use crate::removal::remove_empty;

impl Layout {
    /// Removes the groups of this program that nobody is in and that `is_in_use` does not claim by their name. A fresh one
    /// stays: where its maker lives in another process namespace its number says nothing here, and nobody is in it yet.
    pub fn sweep(&self, is_in_use: impl Fn(&str) -> bool) {
        for base in &self.bases {
            for entry in fs::read_dir(&base.directory).into_iter().flatten().flatten() {
                let name = entry.file_name();
                if let Some(name) = name.to_str().and_then(|name| name.strip_prefix(PREFIX))
                    && !is_in_use(name)
                    && entry.metadata().is_ok_and(|group| is_settled(&group))
                {
                    // A group with processes in it cannot be removed, which is as it should be.
                    let _ = remove_empty(&entry.path(), Duration::ZERO);
                }
            }
        }
    }
}

/// Whether a group has been there for longer than it takes to put a process into one.
fn is_settled(group: &fs::Metadata) -> bool {
    const SETTLED: Duration = Duration::from_secs(60);
    group.modified().is_ok_and(|made| made.elapsed().is_ok_and(|age| age > SETTLED))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::SystemTime;

    use super::*;
    use crate::controller::{Controller, Hierarchy};
    use crate::layout::Base;

    #[test]
    fn only_what_has_been_there_for_a_while_is_swept() {
        let directory = tempfile::tempdir().unwrap();
        let base = Base {
            controller: Controller::Memory,
            hierarchy: Hierarchy::Legacy,
            directory: directory.path().to_owned(),
        };
        let layout = Layout { bases: vec![base] };
        let made = |name: &str, age_s: u64| {
            let group = directory.path().join(name);
            fs::create_dir_all(group.join("of-a-runtime")).unwrap();
            File::open(&group).unwrap().set_modified(SystemTime::now() - Duration::from_secs(age_s)).unwrap();
            group
        };
        let [fresh, young] = [("ambit-1-fresh", 0), ("ambit-1-young", 55)].map(|(name, age)| made(name, age));
        let [old, used] = [("ambit-1-old", 65), ("ambit-2-used", 65)].map(|(name, age)| made(name, age));
        let other = made("other-1-old", 65);
        // Of a machine whose clock was set back.
        let ahead = made("ambit-1-ahead", 0);
        File::open(&ahead).unwrap().set_modified(SystemTime::now() + Duration::from_secs(600)).unwrap();
        layout.sweep(|name| name.starts_with("2-"));
        assert!([&fresh, &young, &used, &other, &ahead].iter().all(|kept| kept.exists()));
        assert!(!old.exists(), "nobody is in it, and nobody comes any more");
    }
}
