//! A client against recorded answers and against servers that go wrong.

mod canary;
mod cassettes;
mod scene;
mod transport;
