use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use ambit_ports::signer::{KeyRole, Signer as _, SignerError};
use ambit_signer_file::FileSigner;

fn refusal(opened: Result<FileSigner, SignerError>) -> SignerError {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error,
    }
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

// proves E-O02
// break crates/adapters/signer-file/src/signer.rs: `bytes: key.sign(message).to_bytes() })` -> `bytes: key.sign(&message[1.min(message.len())..]).to_bytes() })`
#[tokio::test]
async fn the_suite_of_signers_passes() {
    let place = tempfile::tempdir().unwrap();
    ambit_conformance::signer::suite(|name| FileSigner::create_if_absent(&place.path().join(name)).unwrap())
        .await;
}

#[tokio::test]
async fn a_key_is_made_once_and_private() {
    let place = tempfile::tempdir().unwrap();
    let keys = place.path().join("keys");
    let none = FileSigner::open(&keys).unwrap();
    assert_eq!(none.sign(KeyRole::Log, b"x").await.unwrap_err().code(), "SIGNING_KEY_ABSENT");
    assert!(!keys.exists(), "opening makes nothing");

    let made = FileSigner::create_if_absent(&keys).unwrap();
    let names: Vec<_> = std::fs::read_dir(&keys).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!((mode(&keys), mode(&keys.join("log.pem"))), (0o700, 0o600));
    let text = std::fs::read(keys.join("log.pem")).unwrap();
    let again = FileSigner::create_if_absent(&keys).unwrap();
    let opened = FileSigner::open(&keys).unwrap();
    assert_eq!(std::fs::read(keys.join("log.pem")).unwrap(), text);
    for signer in [again, opened] {
        let (one, other) = (made.public_key(KeyRole::Log).await, signer.public_key(KeyRole::Log).await);
        assert_eq!(one.unwrap(), other.unwrap());
    }
}

#[tokio::test]
async fn a_key_that_is_made_by_many_at_once_is_one() {
    for _ in 0..20 {
        let place = tempfile::tempdir().unwrap();
        let keys = place.path().join("keys");
        let signers: Vec<FileSigner> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..8).map(|_| scope.spawn(|| FileSigner::create_if_absent(&keys).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let first = signers[0].public_key(KeyRole::Log).await.unwrap();
        for signer in &signers {
            assert_eq!(signer.public_key(KeyRole::Log).await.unwrap(), first);
        }
        assert_eq!(std::fs::read_dir(&keys).unwrap().count(), 2, "nothing unfinished is left");
    }
}

#[test]
fn a_key_that_others_may_use_is_refused() {
    let place = tempfile::tempdir().unwrap();
    let keys = place.path().join("keys");
    drop(FileSigner::create_if_absent(&keys).unwrap());
    for (path, good) in [(keys.join("log.pem"), 0o600), (keys.clone(), 0o700)] {
        for wide in [0o040, 0o004, 0o020, 0o001] {
            set_mode(&path, good | wide);
            let refusal = refusal(FileSigner::open(&keys));
            assert_eq!(refusal.code(), "SIGNING_KEY_UNUSABLE");
            assert!(refusal.to_string().contains(&format!("chmod {good:o}")), "the mend: {refusal}");
            assert!(FileSigner::create_if_absent(&keys).is_err());
            assert_eq!(mode(&path), good | wide, "it is not narrowed in silence");
        }
        set_mode(&path, good);
        assert!(FileSigner::open(&keys).is_ok());
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            assert!(refusal(FileSigner::open(&keys)).to_string().contains("another user"));
            std::os::unix::fs::chown(&path, Some(0), None).unwrap();
        }
    }
}

#[test]
fn what_is_no_key_is_refused_and_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let keys = place.path().join("keys");
    drop(FileSigner::create_if_absent(&keys).unwrap());
    let (file, good) = (keys.join("log.pem"), std::fs::read_to_string(keys.join("log.pem")).unwrap());
    let public = std::fs::read_to_string(keys.join("log.pub.pem")).unwrap();
    let cut = good[..good.len() / 2].to_owned();
    let padded = format!("{good}{}", "\n".repeat(5_000));
    for text in ["", "not a key", cut.as_str(), public.as_str(), padded.as_str()] {
        std::fs::write(&file, text).unwrap();
        assert_eq!(refusal(FileSigner::create_if_absent(&keys)).code(), "SIGNING_KEY_UNUSABLE");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    std::fs::remove_file(&file).unwrap();
    let elsewhere = place.path().join("elsewhere");
    std::fs::write(&elsewhere, &good).unwrap();
    set_mode(&elsewhere, 0o600);
    symlink(&elsewhere, &file).unwrap();
    assert_eq!(refusal(FileSigner::open(&keys)).code(), "SIGNING_KEY_UNUSABLE", "a link is not followed");
    std::fs::remove_file(&file).unwrap();
    std::fs::rename(&elsewhere, &file).unwrap();
    assert!(FileSigner::open(&keys).is_ok(), "the control: the same file, in its place");

    std::fs::write(keys.join("log.pub.pem"), "another").unwrap();
    let refusal = refusal(FileSigner::create_if_absent(&keys));
    assert!(refusal.to_string().contains("log.pub.pem"), "{refusal}");
}
