//! What each kind of project shows of itself.

mod go;
mod node;
mod node_script;
mod python;
mod python_tests;
mod recipes;
mod rust;
mod tests_by_name;

use crate::gate::Ecosystem;
use crate::listing::Listing;
use crate::parts::Parts;
use crate::question::Question;

/// What was seen of one kind of project in one directory.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) ecosystem: Ecosystem,
    /// What it was recognised by.
    pub(crate) signs: Vec<String>,
    pub(crate) parts: Parts,
    pub(crate) questions: Vec<Question>,
    pub(crate) remarks: Vec<String>,
}

impl Look {
    fn new(ecosystem: Ecosystem, sign: impl Into<String>) -> Self {
        Self {
            ecosystem,
            signs: vec![sign.into()],
            parts: Parts::default(),
            questions: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// Says of a file that says how the project is built that it could not be read.
    fn tell_unread(&mut self, listing: &Listing, file: &str) {
        if listing.unread.contains(file) {
            self.remarks.push(format!("{file} is too large or no text, and was not read"));
        }
    }
}

/// Everything that is recognised at the top of a listing, without recipes of make and just.
pub(crate) fn projects(listing: &Listing) -> Vec<Look> {
    [python::look(listing), rust::look(listing), node::look(listing), go::look(listing)]
        .into_iter()
        .flatten()
        .collect()
}

/// What make and just offer, which stands for whatever it calls.
pub(crate) fn recipes(listing: &Listing) -> Vec<Look> {
    [recipes::make(listing), recipes::just(listing)].into_iter().flatten().collect()
}
