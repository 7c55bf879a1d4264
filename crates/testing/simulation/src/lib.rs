//! Seeded time, store, sandbox and agent.
