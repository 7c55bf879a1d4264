use std::collections::{BTreeMap, BTreeSet};

use ambit_canonical::{CanonicalBytes, EncodeError, encode};
use ambit_ids::Digest;
use serde::{Deserialize, Serialize};

use super::{Layout, Rule, Step};
use crate::envelope::{Payload, PayloadType, ReadError};
use crate::key::{KeyId, PublicKey};
use crate::statement::{Head, read};
use crate::wording::{Moment, Name};

const LAYOUT: &str = "layout";
const STEP: &str = "step";
const KEY_TYPE: &str = "ecdsa";
const SCHEME: &str = "ecdsa-sha2-nistp256";

/// A layout says what must hold, so nothing in it is passed over.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenLayout {
    #[serde(rename = "_type")]
    kind: String,
    expires: String,
    /// Programs to run on whoever verifies. There are none.
    inspect: [(); 0],
    keys: BTreeMap<KeyId, WrittenKey>,
    readme: String,
    steps: Vec<WrittenStep>,
}

/// A key as in-toto holds it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKey {
    keyid: KeyId,
    keytype: String,
    keyval: WrittenKeyValue,
    scheme: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenKeyValue {
    public: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    #[serde(rename = "_type")]
    kind: String,
    name: Name,
    /// Nobody's security rests on what a step says that it ran.
    expected_command: [(); 0],
    expected_materials: Vec<Rule>,
    expected_products: Vec<Rule>,
    pubkeys: BTreeSet<KeyId>,
    threshold: u32,
}

impl Payload for Layout {
    const TYPE: PayloadType = PayloadType::IN_TOTO;

    fn to_bytes(&self) -> Result<CanonicalBytes, EncodeError> {
        encode(&WrittenLayout {
            kind: LAYOUT.to_owned(),
            expires: whole_second(self.expires),
            inspect: [],
            keys: self.keys.iter().map(|(id, key)| (*id, written_key(key))).collect(),
            readme: self.readme.clone(),
            steps: self.steps.iter().map(written_step).collect(),
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let head: Head = read(bytes)?;
        if head.kind != LAYOUT {
            return Err(ReadError::Kind { wanted: LAYOUT, found: head.kind });
        }
        let written: WrittenLayout = read(bytes)?;
        let expires = written.expires.strip_suffix('Z').map(|second| format!("{second}.000Z"));
        let expires: Moment = expires
            .and_then(|moment| moment.parse().ok())
            .ok_or(ReadError::Content("a layout ends at a whole second"))?;
        let keys = written.keys.iter().map(read_key).collect::<Result<Vec<_>, _>>()?;
        let steps = written.steps.into_iter().map(read_step).collect::<Result<_, _>>()?;
        Self::new(expires.get(), written.readme, keys, steps)
    }

    /// in-toto's verifier looks for the signature of a layout by a name that it derives itself.
    fn hint(key: &PublicKey) -> String {
        in_toto_key_id(key)
    }
}

/// The SHA-256 of in-toto's own canonical form of a key, in which text stands between quotes as it is.
fn in_toto_key_id(key: &PublicKey) -> String {
    let pem = key.to_pem();
    let text = format!(r#"{{"keytype":"{KEY_TYPE}","keyval":{{"public":"{pem}"}},"scheme":"{SCHEME}"}}"#);
    Digest::of(text.as_bytes()).to_hex()
}

/// The one spelling of a moment that in-toto takes in a layout.
fn whole_second(moment: Moment) -> String {
    moment.to_string().replace(".000Z", "Z")
}

fn written_key(key: &PublicKey) -> WrittenKey {
    WrittenKey {
        keyid: key.id(),
        keytype: KEY_TYPE.to_owned(),
        keyval: WrittenKeyValue { public: key.to_pem() },
        scheme: SCHEME.to_owned(),
    }
}

fn read_key((id, written): (&KeyId, &WrittenKey)) -> Result<PublicKey, ReadError> {
    let key = PublicKey::from_pem(&written.keyval.public)
        .map_err(|_| ReadError::Content("a key of the layout is none"))?;
    let named = *id == key.id() && written.keyid == key.id();
    if named && written.keytype == KEY_TYPE && written.scheme == SCHEME {
        Ok(key)
    } else {
        Err(ReadError::Content("a key of the layout has another's name or algorithm"))
    }
}

fn written_step(step: &Step) -> WrittenStep {
    WrittenStep {
        kind: STEP.to_owned(),
        name: step.name.clone(),
        expected_command: [],
        expected_materials: step.materials.clone(),
        expected_products: step.products.clone(),
        pubkeys: step.keys.clone(),
        threshold: step.threshold,
    }
}

fn read_step(written: WrittenStep) -> Result<Step, ReadError> {
    if written.kind != STEP {
        return Err(ReadError::Kind { wanted: STEP, found: written.kind });
    }
    Ok(Step {
        name: written.name,
        keys: written.pubkeys,
        threshold: written.threshold,
        materials: written.expected_materials,
        products: written.expected_products,
    })
}
