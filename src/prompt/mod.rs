//! What a model is shown of skills.

mod overview;
mod tokens;

pub use overview::{Overview, OverviewItem};
pub use tokens::estimate_tokens;
