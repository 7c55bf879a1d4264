//! Repositories that change while they are read.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::world::{World, is_git_here};

/// Git moves objects from loose files to packs and from pack to pack all the time, and the commit stays what it is.
#[test]
fn a_repository_that_is_packed_meanwhile_gives_the_same_tree() {
    if !is_git_here("a_repository_that_is_packed_meanwhile_gives_the_same_tree") {
        return;
    }
    let world = World::new();
    for number in 0..150 {
        world.file(format!("d{}/f{number}", number % 7), format!("{number}\n"));
    }
    world.commit();
    let whole = world.import("HEAD").unwrap();
    let done = AtomicBool::new(false);
    let (imports, packed) = std::thread::scope(|scope| {
        let packing = scope.spawn(|| {
            let mut packed = 0;
            while !done.load(Ordering::Relaxed) {
                world.git(&["repack", "-adfq"]);
                world.git(&["repack", "-adFq", "--window=0"]);
                packed += 2;
            }
            packed
        });
        let imports: Vec<_> = (0..10).map(|_| world.import("HEAD")).collect();
        done.store(true, Ordering::Relaxed);
        (imports, packing.join().unwrap())
    });
    for imported in imports {
        assert_eq!(imported.unwrap(), whole);
    }
    assert!(packed > 0);
}
