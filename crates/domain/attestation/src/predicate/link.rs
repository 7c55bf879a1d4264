use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Predicate, PredicateType};
use crate::statement::DigestSet;
use crate::wording::{Name, Uri};

/// What a step took and what it made (in-toto link, version 0.3). What it made are the subjects of the statement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The step, as a layout names it.
    pub name: Name,
    /// The program and its arguments.
    #[serde(default)]
    pub command: Vec<Name>,
    /// What it took.
    #[serde(default)]
    pub materials: Vec<Material>,
    /// What else came of it.
    #[serde(default)]
    pub byproducts: BTreeMap<Name, Name>,
    /// Where it ran.
    #[serde(default)]
    pub environment: BTreeMap<Name, Name>,
}

/// What a step took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Material {
    /// What it is called, as what a step made is called: the rules of a layout go by it.
    pub name: Name,
    /// What it is.
    pub digest: DigestSet,
}

impl Predicate for Link {
    const TYPE: PredicateType = PredicateType::Link;

    fn check(&self) -> Result<(), &'static str> {
        let names: BTreeSet<&Name> = self.materials.iter().map(|material| &material.name).collect();
        if names.len() == self.materials.len() { Ok(()) } else { Err("two materials have one name") }
    }

    fn deployment(&self) -> Option<&Uri> {
        None
    }
}
