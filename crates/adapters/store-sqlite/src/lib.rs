//! The store and its leases in one SQLite file.
