//! Readers of what configuration is written in, one form a module. Each is bounded and gives one [`Node`].

mod ini;
mod json;
mod recipes;
mod requirements;
mod toml;
mod yaml;
mod yarn;

pub(super) use ini::ini;
pub(super) use json::json;
pub(super) use recipes::recipes;
pub(super) use requirements::{go_mod, go_sum, lines, requirements};
pub(super) use toml::toml;
pub(super) use yaml::yaml;
pub(super) use yarn::yarn_lock;
