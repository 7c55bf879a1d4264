//! What is past a bound is refused before it is read.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use ambit_bundle::{Bundle, BundleError, limits};

use crate::small::{BLOCK, Small, header};

#[test]
fn a_member_that_is_too_large_is_refused_without_reading_it() {
    let small = Small::new();
    // A hole takes no room on the disk, and would take it all in memory.
    let huge = File::create(small.dir().join("huge")).unwrap();
    huge.set_len(limits::MEMBER_BYTES.get()).unwrap();
    assert!(Bundle::open(&small.dir()).is_ok(), "the control: as large as may be");
    huge.set_len(limits::MEMBER_BYTES.get() + 1).unwrap();
    let refused = Bundle::open(&small.dir());
    assert!(matches!(refused, Err(BundleError::TooLarge { .. })), "{refused:?}");
}

#[test]
fn members_that_are_too_much_together_are_refused() {
    let small = Small::new();
    for number in 0..=limits::TOTAL_BYTES.get() / limits::MEMBER_BYTES.get() {
        let hole = File::create(small.dir().join(format!("hole-{number}"))).unwrap();
        hole.set_len(limits::MEMBER_BYTES.get()).unwrap();
    }
    let refused = Bundle::open(&small.dir());
    assert!(matches!(refused, Err(BundleError::TooMuch { .. })), "{refused:?}");
}

#[test]
fn members_that_are_too_many_are_refused() {
    let small = Small::new();
    let mut tar =
        std::io::BufWriter::new(OpenOptions::new().write(true).truncate(true).open(small.tar()).unwrap());
    for number in 0..=limits::MEMBERS {
        tar.write_all(&header(format!("{number:07}").as_bytes(), 0, b'0')).unwrap();
    }
    tar.write_all(&[0; 2 * BLOCK]).unwrap();
    tar.into_inner().unwrap().sync_all().unwrap();
    let refused = Bundle::open(&small.tar());
    assert!(matches!(refused, Err(BundleError::TooMuch { what: "members", .. })), "{refused:?}");
}
