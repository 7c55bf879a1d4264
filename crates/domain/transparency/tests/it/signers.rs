//! Keys for tests, and what they sign.

use std::convert::Infallible;

use ambit_ids::Digest;
use ambit_transparency::checkpoint::Checkpoint;
use ambit_transparency::cosignature::cosign;
use ambit_transparency::key::{SignatureKind, VerifierKey};
use ambit_transparency::note::{Note, NoteSignature, sign};
use ed25519_dalek::{Signer as _, SigningKey};

pub(crate) const ORIGIN: &str = "log.example/org-1";

pub(crate) struct Private {
    secret: SigningKey,
    pub(crate) key: VerifierKey,
}

pub(crate) fn private(name: &str, kind: SignatureKind, seed: u8) -> Private {
    let secret = SigningKey::from_bytes(&[seed; 32]);
    let key = VerifierKey::new(name.parse().unwrap(), kind, secret.verifying_key().as_bytes()).unwrap();
    Private { secret, key }
}

pub(crate) fn log() -> Private {
    private(ORIGIN, SignatureKind::Ed25519, 1)
}

pub(crate) fn witness(seed: u8) -> Private {
    private(&format!("witness.example/w{seed}"), SignatureKind::Cosignature, seed)
}

impl Private {
    pub(crate) fn raw(&self, message: &[u8]) -> Result<[u8; 64], Infallible> {
        Ok(self.secret.sign(message).to_bytes())
    }

    pub(crate) fn sign(&self, text: &str) -> NoteSignature {
        sign(text, &self.key, |message| self.raw(message)).unwrap()
    }

    pub(crate) fn note(&self, text: &str) -> Note {
        Note::new(text, vec![self.sign(text)]).unwrap()
    }

    pub(crate) fn cosign(&self, text: &str, at_seconds: u64) -> NoteSignature {
        cosign(text, at_seconds, &self.key, |message| self.raw(message)).unwrap()
    }
}

pub(crate) fn checkpoint(size: u64, root: Digest) -> Checkpoint {
    Checkpoint { origin: ORIGIN.parse().unwrap(), size, root }
}
