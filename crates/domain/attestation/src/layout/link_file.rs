use std::collections::BTreeMap;

use ambit_canonical::{CanonicalBytes, EncodeError, encode};
use serde::{Deserialize, Serialize};

use crate::envelope::{Payload, PayloadType, ReadError};
use crate::key::{KeyId, PublicKey};
use crate::predicate::{Link, Material};
use crate::statement::{DigestSet, Head, Statement, Subject, read};
use crate::wording::Name;

const LINK: &str = "link";
/// How many digits of the name of a key the name of a file holds.
const PREFIX: usize = 8;

/// A link as in-toto's own verifier reads it: the same that a statement of the type [`Link`] says, in the shape from before there
/// were statements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkFile {
    link: Link,
    products: BTreeMap<Name, DigestSet>,
}

#[derive(Serialize, Deserialize)]
struct Written {
    #[serde(rename = "_type")]
    kind: String,
    name: Name,
    command: Vec<Name>,
    materials: BTreeMap<Name, DigestSet>,
    products: BTreeMap<Name, DigestSet>,
    byproducts: BTreeMap<Name, Name>,
    environment: BTreeMap<Name, Name>,
}

impl LinkFile {
    /// What `link` took to make `products`. A step that makes nothing, as a gate, has a link and no statement: a statement is about
    /// something.
    ///
    /// # Errors
    /// [`ReadError::Content`] where two materials or products have one name.
    pub fn new(link: Link, products: Vec<Subject>) -> Result<Self, ReadError> {
        let twice = ReadError::Content("two materials or products have one name");
        let count = products.len();
        let products: BTreeMap<Name, DigestSet> =
            products.into_iter().map(|product| (product.name, product.digest)).collect();
        let materials: BTreeMap<&Name, &DigestSet> =
            link.materials.iter().map(|material| (&material.name, &material.digest)).collect();
        if products.len() == count && materials.len() == link.materials.len() {
            Ok(Self { link, products })
        } else {
            Err(twice)
        }
    }

    /// What a statement says.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn of_statement(statement: &Statement<Link>) -> Result<Self, ReadError> {
        Self::new(statement.predicate().clone(), statement.subject().to_vec())
    }

    /// What it took, and how.
    #[must_use]
    pub const fn link(&self) -> &Link {
        &self.link
    }

    /// What it made.
    #[must_use]
    pub const fn products(&self) -> &BTreeMap<Name, DigestSet> {
        &self.products
    }
}

/// The name under which in-toto's verifier looks for the link of a step by a key.
#[must_use]
pub fn file_name(step: &Name, key: &PublicKey) -> String {
    let id: KeyId = key.id();
    format!("{step}.{}.link", &id.to_string()[..PREFIX])
}

impl Payload for LinkFile {
    const TYPE: PayloadType = PayloadType::IN_TOTO;

    fn to_bytes(&self) -> Result<CanonicalBytes, EncodeError> {
        let link = self.link.clone();
        let materials = link.materials.into_iter().map(|material| (material.name, material.digest));
        encode(&Written {
            kind: LINK.to_owned(),
            name: link.name,
            command: link.command,
            materials: materials.collect(),
            products: self.products.clone(),
            byproducts: link.byproducts,
            environment: link.environment,
        })
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let head: Head = read(bytes)?;
        if head.kind != LINK {
            return Err(ReadError::Kind { wanted: LINK, found: head.kind });
        }
        let written: Written = read(bytes)?;
        let materials = written.materials.into_iter().map(|(name, digest)| Material { name, digest });
        let link = Link {
            name: written.name,
            command: written.command,
            materials: materials.collect(),
            byproducts: written.byproducts,
            environment: written.environment,
        };
        Ok(Self { link, products: written.products })
    }

    fn hint(key: &PublicKey) -> String {
        key.id().to_string()
    }
}
