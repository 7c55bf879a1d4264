//! A small pure engine for the rules of a policy bundle.
