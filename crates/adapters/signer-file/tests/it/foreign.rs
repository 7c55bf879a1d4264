//! Other programs and published values agree.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use ambit_ports::signer::{KeyRole, Signer as _};
use ambit_signer_file::FileSigner;

fn with_key(place: &Path, pem: &str) -> FileSigner {
    let keys = place.join("keys");
    std::fs::create_dir(&keys).unwrap();
    std::fs::set_permissions(&keys, Permissions::from_mode(0o700)).unwrap();
    std::fs::write(keys.join("log.pem"), pem).unwrap();
    std::fs::set_permissions(keys.join("log.pem"), Permissions::from_mode(0o600)).unwrap();
    FileSigner::create_if_absent(&keys).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The example keys of RFC 8410, sections 10.1 and 10.3: the second form of the private one holds the public one too.
#[tokio::test]
async fn the_keys_of_rfc_8410_are_read() {
    let first = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC";
    let place = tempfile::tempdir().unwrap();
    with_key(place.path(), &format!("-----BEGIN PRIVATE KEY-----\n{first}\n-----END PRIVATE KEY-----\n"));
    let public = std::fs::read_to_string(place.path().join("keys/log.pub.pem")).unwrap();
    assert!(public.contains("MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE="), "{public}");
}

/// The first test of RFC 8032, section 7.1: the empty message.
#[tokio::test]
async fn the_signature_of_rfc_8032_is_made() {
    let place = tempfile::tempdir().unwrap();
    let signer = with_key(
        place.path(),
        "-----BEGIN PRIVATE KEY-----\n\
         MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
         -----END PRIVATE KEY-----\n",
    );
    let public = signer.public_key(KeyRole::Log).await.unwrap();
    assert_eq!(hex(&public.bytes), "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    let signature = signer.sign(KeyRole::Log, b"").await.unwrap();
    assert_eq!(
        hex(&signature.bytes),
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
         d25bf5f0595bbe24655141438e7a100b"
    );
}

fn openssl(place: &Path, arguments: &[&str]) -> bool {
    Command::new("openssl").args(arguments).current_dir(place).output().unwrap().status.success()
}

/// A person with nothing but openssl verifies what was signed here, and a key that openssl made signs here.
#[tokio::test]
async fn openssl_verifies_and_makes_keys() {
    let place = tempfile::tempdir().unwrap();
    if Command::new("openssl").arg("version").output().is_err() {
        println!("skipped: NO_OPENSSL openssl_verifies_and_makes_keys");
        return;
    }
    let verify = [
        "pkeyutl",
        "-verify",
        "-rawin",
        "-pubin",
        "-inkey",
        "keys/log.pub.pem",
        "-in",
        "message",
        "-sigfile",
        "signature",
    ];
    let check = async |signer: FileSigner| {
        let signature = signer.sign(KeyRole::Log, b"a head").await.unwrap();
        std::fs::write(place.path().join("signature"), signature.bytes).unwrap();
        std::fs::write(place.path().join("message"), "a head").unwrap();
        assert!(openssl(place.path(), &verify));
        std::fs::write(place.path().join("message"), "a hoad").unwrap();
        assert!(!openssl(place.path(), &verify), "of another message");
    };
    check(FileSigner::create_if_absent(&place.path().join("keys")).unwrap()).await;
    assert!(openssl(place.path(), &["pkey", "-in", "keys/log.pem", "-noout"]), "it reads our private key");
    std::fs::remove_dir_all(place.path().join("keys")).unwrap();
    assert!(openssl(place.path(), &["genpkey", "-algorithm", "ed25519", "-out", "made.pem"]));
    let made = std::fs::read_to_string(place.path().join("made.pem")).unwrap();
    check(with_key(place.path(), &made)).await;
}
