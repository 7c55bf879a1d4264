//! Directories that change while they are read.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use ambit_revision::FileKind;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::world::World;

const SECRET: &[u8] = b"what lies outside of the project";

/// A project with a directory `data` that holds `file`, and beside it a directory of the same shape and a link to it.
fn two_faced() -> World {
    let world = World::new();
    world.file("data/file", "inside");
    world.file("other", "x");
    fs::create_dir(world.home().join("outside")).unwrap();
    fs::write(world.home().join("outside/file"), SECRET).unwrap();
    std::os::unix::fs::symlink(world.home().join("outside"), world.home().join("swap")).unwrap();
    world
}

/// Lets two names change places all the time while `body` runs.
fn while_swapping<T>(one: &Path, other: &Path, body: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        // Ends the thread even where the body panics.
        struct Done<'a>(&'a AtomicBool);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _done = Done(&done);
        body()
    })
}

/// Looks whether a directory is one and then reads from it by its path, as it should not be done.
fn read_carelessly(directory: &Path) -> io::Result<Vec<u8>> {
    if fs::symlink_metadata(directory)?.is_dir() {
        return fs::read(directory.join("file"));
    }
    Ok(Vec::new())
}

// proves E-E09 E-G01
// break crates/adapters/source-directory/src/open.rs: `OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW)` -> `OFlags::RDONLY.union(OFlags::DIRECTORY)`
#[test]
fn nothing_from_outside_arrives_where_a_link_takes_the_place_of_a_directory() {
    let world = two_faced();
    let (data, swap) = (world.path("data"), world.home().join("swap"));
    while_swapping(&data, &swap, || {
        // The race can be lost: whoever looks first and opens later does read what lies outside.
        let lost = (0..1_000_000).any(|_| read_carelessly(&data).is_ok_and(|bytes| bytes == SECRET));
        assert!(lost);
        let mut outcomes = [0, 0, 0];
        for _ in 0..2_000 {
            match world.import() {
                Ok(imported) => {
                    let data = imported.tree.get(&"data".parse().unwrap());
                    outcomes[usize::from(data.is_some_and(|data| data.kind == FileKind::Link))] += 1;
                }
                Err(error) => {
                    assert_eq!(error.code(), "IMPORT_CHANGED");
                    outcomes[2] += 1;
                }
            }
        }
        assert!(outcomes[0] > 0 && outcomes[1] > 0, "a directory, a link, refused: {outcomes:?}");
    });
    assert!(!world.blobs.hold(SECRET));
}

#[test]
fn nothing_from_outside_arrives_where_a_link_takes_the_place_of_a_file() {
    let world = World::new();
    world.file("file", "inside");
    let outside = world.home().join("outside");
    fs::write(&outside, SECRET).unwrap();
    let swap = world.home().join("swap");
    std::os::unix::fs::symlink(&outside, &swap).unwrap();
    while_swapping(&world.path("file"), &swap, || {
        for _ in 0..2_000 {
            if let Err(error) = world.import() {
                assert_eq!(error.code(), "IMPORT_CHANGED");
            }
        }
    });
    assert!(!world.blobs.hold(SECRET));
}

#[test]
fn a_file_that_is_written_all_the_time_is_refused_and_no_half_of_it_stays() {
    use std::io::{Seek as _, Write as _};
    let world = World::new();
    // Larger than a part, so that parts of it are stored before the change is known.
    world.file("log", vec![b'a'; 2 << 20]);
    let done = AtomicBool::new(false);
    let refused = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut log = fs::File::options().write(true).open(world.path("log")).unwrap();
            while !done.load(Ordering::Relaxed) {
                log.rewind().unwrap();
                log.write_all(b"bbbb").unwrap();
                log.rewind().unwrap();
                log.write_all(b"aaaa").unwrap();
            }
        });
        let refused = (0..200).find_map(|_| world.import().err());
        done.store(true, Ordering::Relaxed);
        refused
    });
    let error = refused.unwrap();
    assert_eq!(error.code(), "IMPORT_CHANGED");
    assert!(error.to_string().starts_with("log changed while it was read"), "{error}");
    assert_eq!(world.blobs.open_writers(), 0);
    // It was tried once more before it was refused.
    assert!(world.blobs.writers() >= 2, "{}", world.blobs.writers());
    assert!(world.import().is_ok());
}
