use std::collections::BTreeSet;
use std::fs;

use ambit_ids::Digest;
use ambit_images::{NamedImages, PruneRequest};
use ambit_ports::images::{ImageError, ImageStore};

use crate::world::{World, wait};

fn removed(world: &World, request: PruneRequest) -> BTreeSet<Digest> {
    wait(world.images.prune(request)).unwrap().removed.iter().map(|image| image.digest).collect()
}

#[test]
fn only_what_nothing_needs_is_removed() {
    let world = World::new();
    let older = world.capture("moved", &["sh"]).unwrap().image.digest;
    let named = world.capture("moved", &["sh", "env"]).unwrap().image.digest;
    let rehearsal = PruneRequest { is_rehearsal: true, ..PruneRequest::default() };
    assert_eq!(removed(&world, rehearsal), BTreeSet::from([older]));
    assert_eq!(wait(world.images.digests()).unwrap().len(), 2, "a rehearsal removes nothing");
    let kept = PruneRequest { kept: BTreeSet::from([older]), ..PruneRequest::default() };
    assert_eq!(removed(&world, kept), BTreeSet::new());
    let others = PruneRequest { only: Some(BTreeSet::from([named])), ..PruneRequest::default() };
    assert_eq!(removed(&world, others), BTreeSet::new(), "nothing beyond what was asked for");

    assert_eq!(removed(&world, PruneRequest::default()), BTreeSet::from([older]));
    assert!(matches!(wait(world.images.find(older)), Err(ImageError::NotFound(_))));
    assert!(!world.home(older).exists());
    wait(world.images.verify(named)).unwrap();

    let unused = PruneRequest { named: NamedImages::Go, ..PruneRequest::default() };
    let kept = PruneRequest { kept: BTreeSet::from([named]), ..unused.clone() };
    assert_eq!(removed(&world, kept), BTreeSet::new());
    assert_eq!(removed(&world, unused), BTreeSet::from([named]));
    assert_eq!(wait(world.images.named(&"moved".parse().unwrap())).unwrap(), None);
    assert!(wait(world.images.digests()).unwrap().is_empty());
}

#[test]
fn what_an_interruption_left_is_cleared_and_a_damaged_image_can_go() {
    let world = World::new();
    let image = world.capture("default", &["sh"]).unwrap().image.digest;
    // A removal that was cut off right after the image was taken out of sight.
    fs::remove_file(world.path().join("names/default")).unwrap();
    fs::rename(world.home(image), world.path().join("staging/pruned")).unwrap();
    assert!(matches!(wait(world.images.find(image)), Err(ImageError::NotFound(_))));
    let report = wait(world.images.prune(PruneRequest::default())).unwrap();
    assert_eq!((report.removed.len(), report.debris), (0, 1));
    assert_eq!(fs::read_dir(world.path().join("staging")).unwrap().count(), 0);

    let image = world.capture("default", &["sh"]).unwrap().image.digest;
    fs::remove_file(world.path().join("names/default")).unwrap();
    fs::remove_file(world.home(image).join("image.json")).unwrap();
    let report = wait(world.images.prune(PruneRequest::default())).unwrap();
    assert_eq!(report.removed[0].size_bytes, None);
    assert!(!world.home(image).exists());

    // A name is debris of no image, and a link in the place of one is not followed.
    let elsewhere = world.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("kept"), "").unwrap();
    std::os::unix::fs::symlink(&elsewhere, world.home(image)).unwrap();
    assert_eq!(removed(&world, PruneRequest::default()), BTreeSet::from([image]));
    assert!(elsewhere.join("kept").exists());
}
