//! The bounds within which a bundle is read. What lies beyond is refused before it is held in memory.

use ambit_ids::ByteCount;

/// The most members.
pub const MEMBERS: usize = 1 << 17;
/// The most bytes of one member.
pub const MEMBER_BYTES: ByteCount = ByteCount::new(256 << 20);
/// The most bytes of all members together.
pub const TOTAL_BYTES: ByteCount = ByteCount::new(4 << 30);
/// The most bytes of the list of members.
pub const MANIFEST_BYTES: usize = 32 << 20;
/// The most bytes of the head of a stream.
pub const HEAD_BYTES: usize = 4 << 10;
/// The longest name of a member: what a header of ustar holds.
pub const NAME_BYTES: usize = 255;
/// The most components of such a name.
pub const NAME_COMPONENTS: usize = 64;
