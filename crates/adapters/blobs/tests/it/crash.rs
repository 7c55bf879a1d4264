//! The process is killed while it writes blobs. What was acknowledged is there, and what is there is whole.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;

use ambit_blobs::DirectoryBlobs;
use ambit_ids::{ByteCount, Digest};
use ambit_ports::blobs::BlobStore as _;
use bytes::Bytes;

use crate::place::{Place, acme, everything};

const KILLS: u64 = 60;

/// A small generator, so that a seed replays the points at which the child dies (Steele et al., SplitMix64).
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

// proves E-O02
// break crates/adapters/blobs/src/directory.rs: `let (digest, _) = incoming.publish(scope)?;` -> `std::mem::forget(incoming);`
#[tokio::test]
async fn what_was_acknowledged_survives_a_kill() {
    let place = Place::new();
    let mut random = 20_261_130;
    let mut acknowledged = Vec::new();
    for life in 1..=KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::child_that_writes", "--ignored", "--nocapture"])
            .env("AMBIT_CHILD_ROOT", place.root("blobs"))
            .env("AMBIT_CHILD_LIFE", life.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut text = String::new();
        for _ in 0..1 + next_random(&mut random) % 20 {
            assert_ne!(output.read_line(&mut text).unwrap(), 0, "the child ended by itself in life {life}");
        }
        // Some way into the next blobs.
        for _ in 0..next_random(&mut random) % 400_000 {
            std::hint::spin_loop();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        output.read_to_string(&mut text).unwrap();
        let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
        let lines = whole.lines().filter_map(|line| line.strip_prefix("ack "));
        acknowledged.extend(lines.map(|digest| digest.parse::<Digest>().unwrap()));
    }
    assert!(acknowledged.len() as u64 > KILLS, "{}", acknowledged.len());
    let blobs = place.open("blobs");
    for digest in &acknowledged {
        assert!(blobs.get(&acme(), *digest, ByteCount::new(1 << 20)).await.is_ok(), "{digest}");
    }
    let mut found = 0;
    for path in everything(&place.root("blobs/acme/shop")).iter().filter(|path| path.is_file()) {
        assert_eq!(
            place.file("blobs", Digest::of(&std::fs::read(path).unwrap())),
            *path,
            "in part or altered"
        );
        found += 1;
    }
    assert!(found >= acknowledged.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "what_was_acknowledged_survives_a_kill runs it and kills it"]
async fn child_that_writes() {
    let root = std::env::var_os("AMBIT_CHILD_ROOT").expect("only a parent test runs this");
    let life: u64 = std::env::var("AMBIT_CHILD_LIFE").unwrap().parse().unwrap();
    let blobs = Arc::new(DirectoryBlobs::open(root.as_ref()).unwrap());
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..3 {
        let blobs = Arc::clone(&blobs);
        writers.spawn(async move {
            let mut random = life * 1_000 + number;
            loop {
                let seed = next_random(&mut random);
                let size = usize::try_from(seed % 60_000).unwrap();
                let bytes: Bytes = seed.to_be_bytes().iter().copied().cycle().take(size + 8).collect();
                let digest = if seed.is_multiple_of(2) {
                    blobs.put(&acme(), bytes).await.unwrap()
                } else {
                    let mut writer = blobs.create(&acme()).await.unwrap();
                    writer.write(&bytes).await.unwrap();
                    writer.finish().await.unwrap().0
                };
                // One write call a line, so that a line is never in parts of two writers.
                std::io::stdout().write_all(format!("ack {digest}\n").as_bytes()).unwrap();
                std::io::stdout().flush().unwrap();
            }
        });
    }
    writers.join_all().await;
}
