//! Real runs over the real store, blobs, keys and rules, and what becomes of them under an attacker's hands.

mod attack;
mod blobs;
mod cases;
mod eligibility;
mod forged;
mod honest;
mod rows;
mod world;
