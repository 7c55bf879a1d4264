//! An agent that follows a transcript.
