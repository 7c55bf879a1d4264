use crate::place::Place;

// proves E-O02
// break crates/adapters/blobs/src/incoming.rs: `Err(Errno::EXIST) if is_stored(` -> `Err(Errno::EXIST) if !is_stored(`
#[tokio::test(flavor = "multi_thread")]
async fn the_suite_of_blobs_passes() {
    let place = Place::new();
    ambit_conformance::blobs::suite(|name| place.open(name)).await;
}
