//! As many files as large projects have.

use std::fs;
use std::time::{Duration, Instant};

use crate::world::World;

#[test]
fn a_hundred_thousand_files_take_seconds() {
    let world = World::in_memory();
    for number in 0..100 {
        world.file(format!("d{number}/f0"), format!("{number}"));
        let directory = world.path(format!("d{number}"));
        // Further names of one file cost the disk little and are files to whoever reads them.
        for file in 1..1_000 {
            fs::hard_link(directory.join("f0"), directory.join(format!("f{file}"))).unwrap();
        }
    }
    let started = Instant::now();
    let imported = world.import().unwrap();
    let took = started.elapsed();
    println!("100,000 files in {} ms", took.as_millis());
    assert_eq!(imported.entries, 100_000);
    assert_eq!(imported.tree.objects().len(), 101);
    assert!(took < Duration::from_secs(60), "{took:?}");
}
