//! Signed notes: a text, an empty line, and a line for each signature.

use std::fmt;

use crate::cosignature;
use crate::key::{KeyId, KeyName, SignatureKind, VerifierKey};
use crate::spelling::{base64, unbase64};

/// The largest note that is read.
pub const NOTE_BYTES: usize = 256 << 10;

/// The most signatures of a note. The format asks for sixteen at least.
pub const NOTE_SIGNATURES: usize = 64;

/// Why bytes are no note, or why a note is not believed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoteError {
    /// More bytes than are read.
    #[error(
        "the note has {found} bytes and may have {NOTE_BYTES}; nothing of it is used. Send fewer signatures"
    )]
    TooLarge {
        /// Its size in bytes.
        found: usize,
    },
    /// More signatures than are read.
    #[error("the note has more than {NOTE_SIGNATURES} signatures; nothing of it is used. Send fewer of them")]
    TooManySignatures,
    /// Not UTF-8, or with a control character other than the end of a line.
    #[error(
        "the note is no plain text; nothing of it is used. Fetch it again, byte by byte as it was signed"
    )]
    NotText,
    /// Not a text, an empty line and signature lines.
    #[error(
        "the note has no text, empty line and signatures in this order; nothing of it is used. Fetch it again"
    )]
    Form,
    /// A line behind the empty one is no signature.
    #[error("signature {at} of the note is malformed; nothing of it is used. Fetch it again")]
    Signature {
        /// Its position.
        at: usize,
    },
    /// A key that the reader knows did not make the signature that bears its name.
    #[error(
        "the signature by {name} does not hold; the whole note is refused. Keep it: either it was altered or the key is another"
    )]
    Invalid {
        /// The key's name.
        name: KeyName,
        /// Its id.
        id: KeyId,
    },
    /// No key that the reader knows signed it.
    #[error("no known key signed the note; nothing of it is used. Name the keys that may sign it")]
    Unsigned,
    /// Two different known keys have one name and one id.
    #[error("two known keys share the name {name} and an id; no note is judged. Leave one of them out")]
    AmbiguousKeys {
        /// The name.
        name: KeyName,
    },
}

impl NoteError {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "NOTE_TOO_LARGE",
            Self::TooManySignatures => "NOTE_TOO_MANY_SIGNATURES",
            Self::NotText => "NOTE_NOT_TEXT",
            Self::Form => "NOTE_FORM",
            Self::Signature { .. } => "NOTE_SIGNATURE_MALFORMED",
            Self::Invalid { .. } => "NOTE_SIGNATURE_INVALID",
            Self::Unsigned => "NOTE_UNSIGNED",
            Self::AmbiguousKeys { .. } => "NOTE_KEYS_AMBIGUOUS",
        }
    }
}

/// A signature as it stands in a note: whose it claims to be, and bytes that nothing is known about yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoteSignature {
    /// The name of the key.
    pub name: KeyName,
    /// The id of the key.
    pub id: KeyId,
    bytes: Vec<u8>,
}

impl NoteSignature {
    /// The bytes behind the id.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn read(line: &str) -> Option<Self> {
        let (name, encoded) = line.strip_prefix("\u{2014} ")?.split_once(' ')?;
        let decoded = unbase64(encoded)?;
        let (id, bytes) = decoded.split_first_chunk::<4>()?;
        if bytes.is_empty() {
            return None;
        }
        Some(Self { name: name.parse().ok()?, id: KeyId(u32::from_be_bytes(*id)), bytes: bytes.to_vec() })
    }
}

/// The line without its end.
impl fmt::Display for NoteSignature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.id.0.to_be_bytes(), self.bytes.as_slice()].concat();
        write!(f, "\u{2014} {} {}", self.name, base64(&bytes))
    }
}

/// A note that is well formed. That says nothing about who signed it: [`Note::verify`] does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

/// A signature that holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signed<'k> {
    /// The key that made it.
    pub key: &'k VerifierKey,
    /// When its maker says that it was made, in seconds since 1970; only a cosignature says so.
    pub at_seconds: Option<u64>,
}

/// Who of the known keys signed a note: at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signers<'k> {
    /// The signatures that hold, one a key, in the order of the note.
    pub signed: Vec<Signed<'k>>,
    /// Known keys whose kind is not verified here. They count for nothing.
    pub unjudged: Vec<&'k VerifierKey>,
}

impl Note {
    /// A note of this text and these signatures.
    ///
    /// # Errors
    /// [`NoteError`] where no reader would take it.
    pub fn new(text: &str, signatures: Vec<NoteSignature>) -> Result<Self, NoteError> {
        let note = Self { text: text.to_owned(), signatures };
        // What is written is what the reader takes, and as the same.
        if Self::parse(note.to_string().as_bytes())? == note { Ok(note) } else { Err(NoteError::Form) }
    }

    /// Reads a note.
    ///
    /// # Errors
    /// [`NoteError`] where it is not spelled as a note is.
    pub fn parse(bytes: &[u8]) -> Result<Self, NoteError> {
        if bytes.len() > NOTE_BYTES {
            return Err(NoteError::TooLarge { found: bytes.len() });
        }
        let whole = std::str::from_utf8(bytes).map_err(|_| NoteError::NotText)?;
        if whole.bytes().any(|byte| byte < 0x20 && byte != b'\n') {
            return Err(NoteError::NotText);
        }
        // The text may hold empty lines: the last one divides.
        let divided = whole.rfind("\n\n").ok_or(NoteError::Form)?;
        let (text, lines) = whole.split_at(divided + 1);
        let lines = lines.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n'));
        let mut signatures = Vec::new();
        for (at, line) in lines.ok_or(NoteError::Form)?.split('\n').enumerate() {
            if at == NOTE_SIGNATURES {
                return Err(NoteError::TooManySignatures);
            }
            signatures.push(NoteSignature::read(line).ok_or(NoteError::Signature { at })?);
        }
        Ok(Self { text: text.to_owned(), signatures })
    }

    /// The text that is signed, with the end of its last line. Nobody may rely on it before it is verified.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The signatures, none of them judged.
    #[must_use]
    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// The note with one signature more.
    ///
    /// # Errors
    /// [`NoteError`] where it would have too many.
    pub fn and(&self, signature: NoteSignature) -> Result<Self, NoteError> {
        let signatures = self.signatures.iter().cloned().chain([signature]).collect();
        Self::new(&self.text, signatures)
    }

    /// Who of `known` signed the note. Signatures of others are passed over; one that bears a known key's name and id and
    /// does not hold refuses the note, whatever else stands in it.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn verify<'k>(&self, known: &'k [VerifierKey]) -> Result<Signers<'k>, NoteError> {
        let mut signers = Signers { signed: Vec::new(), unjudged: Vec::new() };
        for signature in &self.signatures {
            let Some(key) = find(known, signature)? else { continue };
            match judge(&self.text, signature, key) {
                Judged::Holds(at_seconds) => {
                    if !signers.signed.iter().any(|signed| signed.key == key) {
                        signers.signed.push(Signed { key, at_seconds });
                    }
                }
                Judged::Fails => {
                    return Err(NoteError::Invalid { name: key.name().clone(), id: key.id() });
                }
                Judged::NotVerifiedHere => {
                    if !signers.unjudged.contains(&key) {
                        signers.unjudged.push(key);
                    }
                }
            }
        }
        if signers.signed.is_empty() { Err(NoteError::Unsigned) } else { Ok(signers) }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.text)?;
        self.signatures.iter().try_for_each(|signature| writeln!(f, "{signature}"))
    }
}

fn find<'k>(
    known: &'k [VerifierKey],
    signature: &NoteSignature,
) -> Result<Option<&'k VerifierKey>, NoteError> {
    let mut found = known.iter().filter(|key| *key.name() == signature.name && key.id() == signature.id);
    let Some(key) = found.next() else { return Ok(None) };
    if found.any(|other| other != key) {
        return Err(NoteError::AmbiguousKeys { name: key.name().clone() });
    }
    Ok(Some(key))
}

enum Judged {
    Holds(Option<u64>),
    Fails,
    NotVerifiedHere,
}

fn judge(text: &str, signature: &NoteSignature, key: &VerifierKey) -> Judged {
    let holds = match key.kind() {
        SignatureKind::Ed25519 => key.signed(text.as_bytes(), signature.bytes()).then_some(None),
        SignatureKind::Cosignature => cosignature::made_at(text, signature.bytes(), key).map(Some),
        SignatureKind::SubtreeCosignature => return Judged::NotVerifiedHere,
    };
    holds.map_or(Judged::Fails, Judged::Holds)
}

/// Why nothing was signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError<E: std::error::Error + 'static> {
    /// The key makes another kind of signature.
    #[error(
        "the key makes another kind of signature; nothing was signed. Use the key that was made for this"
    )]
    Kind,
    /// The time is later than any that can be written.
    #[error("the time cannot be written; nothing was signed. Set the clock")]
    Time,
    /// The text is none that a note can have.
    #[error("the text is none that a note can have; nothing was signed. Write it anew")]
    Text,
    /// Whoever holds the private key did not sign.
    #[error("the private key was not used; nothing was signed")]
    Signer(#[source] E),
    /// The signature that came back is not one of the key over the text.
    #[error(
        "the signature that was made does not hold; it is thrown away. Check which private key is in use"
    )]
    NotOurs,
}

impl<E: std::error::Error + 'static> SignError<E> {
    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Kind => "NOTE_SIGN_KIND",
            Self::Time => "NOTE_SIGN_TIME",
            Self::Text => "NOTE_SIGN_TEXT",
            Self::Signer(_) => "NOTE_SIGN_SIGNER",
            Self::NotOurs => "NOTE_SIGN_NOT_OURS",
        }
    }
}

/// Signs a text. `private` makes an Ed25519 signature over the bytes that it is given; what comes back is verified
/// before it is used.
///
/// # Errors
/// [`SignError`].
pub fn sign<E: std::error::Error + 'static>(
    text: &str,
    key: &VerifierKey,
    private: impl FnOnce(&[u8]) -> Result<[u8; 64], E>,
) -> Result<NoteSignature, SignError<E>> {
    if key.kind() != SignatureKind::Ed25519 {
        return Err(SignError::Kind);
    }
    // Such a signature would be one of the same key over a cosignature.
    if text.starts_with(cosignature::HEADER) {
        return Err(SignError::Text);
    }
    finish(text, key, text.as_bytes(), &[], private)
}

/// Has `message` signed, and lays `before` in front of the signature.
pub(crate) fn finish<E: std::error::Error + 'static>(
    text: &str,
    key: &VerifierKey,
    message: &[u8],
    before: &[u8],
    private: impl FnOnce(&[u8]) -> Result<[u8; 64], E>,
) -> Result<NoteSignature, SignError<E>> {
    let with = |signature: &[u8; 64]| {
        let bytes = [before, signature].concat();
        NoteSignature { name: key.name().clone(), id: key.id(), bytes }
    };
    // A text that no note can have is refused before a private key sees it.
    Note::new(text, vec![with(&[0; 64])]).map_err(|_| SignError::Text)?;
    let signature = private(message).map_err(SignError::Signer)?;
    if key.signed(message, &signature) { Ok(with(&signature)) } else { Err(SignError::NotOurs) }
}
