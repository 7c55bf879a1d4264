//! Source text with its comments and strings told apart, for the families of languages that are read.

mod language;
mod lexer;
mod tight;

pub(crate) use language::Language;
pub(crate) use lexer::{Comment, Source};
pub(crate) use tight::{Tight, Word};
