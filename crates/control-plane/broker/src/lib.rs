//! Assesses proposed calls and performs the effect of decided ones.
