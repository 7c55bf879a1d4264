//! Admission of a backend by probe, allocation, and cleanup with proof.
