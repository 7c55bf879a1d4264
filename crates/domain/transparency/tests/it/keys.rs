use ambit_transparency::key::{KeyError, KeyName, SignatureKind, VerifierKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::signers::{log, witness};

const EXAMPLE: &str = "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k";

#[test]
fn a_name_is_one_word() {
    for good in ["a", "example.com/foo", "Ünïcode/log", "oid/1.2.3", &"n".repeat(255)] {
        assert_eq!(good.parse::<KeyName>().unwrap().as_str(), good);
    }
    let wrong = [
        "",
        " ",
        "a b",
        "a+b",
        "a\tb",
        "a\nb",
        "a\u{a0}b",
        "a\u{2003}b",
        "a\u{3000}",
        "a\u{85}b",
        "a\0b",
        "a\u{7f}",
    ];
    for wrong in wrong.into_iter().chain([n256().as_str()]) {
        assert_eq!(wrong.parse::<KeyName>(), Err(KeyError::Name), "{wrong:?}");
    }
}

fn n256() -> String {
    "n".repeat(256)
}

#[test]
fn a_verifier_key_has_one_spelling() {
    let key: VerifierKey = EXAMPLE.parse().unwrap();
    assert_eq!((key.to_string().as_str(), key.kind()), (EXAMPLE, SignatureKind::Ed25519));
    for key in [log().key, witness(2).key] {
        assert_eq!(key.to_string().parse(), Ok(key));
    }
    let with = |kind: u8, public: &[u8]| {
        let material = STANDARD.encode([&[kind], public].concat());
        format!("example.com/foo+530d903a+{material}").parse::<VerifierKey>()
    };
    let public = key.public_bytes();
    assert_eq!(with(1, public), Ok(key.clone()));
    assert_eq!(with(4, public), Err(KeyError::Id), "the kind is part of the id");
    for kind in [0x00, 0x02, 0x03, 0x05, 0x07, 0xfa, 0xff] {
        assert_eq!(with(kind, public), Err(KeyError::Kind(kind)));
    }
    assert_eq!(with(1, &public[..31]), Err(KeyError::PublicKey));
    assert_eq!(with(1, &[public, &[0]].concat()), Err(KeyError::PublicKey));
    assert_eq!(with(6, public), Err(KeyError::PublicKey));
    // The neutral element: everything is signed under it.
    let weak: [u8; 32] = std::array::from_fn(|at| u8::from(at == 0));
    assert_eq!(with(1, &weak), Err(KeyError::PublicKey));
    assert_eq!(with(1, &[2; 32]), Err(KeyError::PublicKey), "no point");
    for wrong in [
        "",
        "example.com/foo",
        "example.com/foo+530d903a",
        "example.com/foo+530d903a+",
        "+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530D903A+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903b+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+30d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+0530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/fo +530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k=",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k\n",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2_",
    ] {
        assert!(wrong.parse::<VerifierKey>().is_err(), "{wrong}");
    }
}

#[test]
fn a_key_for_subtrees_is_known_by_name() {
    let key = VerifierKey::new("w.example".parse().unwrap(), SignatureKind::SubtreeCosignature, &[9; 1312])
        .unwrap();
    assert_eq!(key.to_string().parse(), Ok(key));
}
