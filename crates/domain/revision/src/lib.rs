//! Source trees, patches and lineage.
