//! Golden tests: what a reference implementation was seen to do, row by row.
//!
//! The data lie in the folder named by `COORL_VECTORS`, by default `tests/vectors`, whose `README.md` describes them. Any
//! folder of the same layout will do.

mod bot_games;
mod bots;
mod color_shared;
mod encodings;
mod evaluation;
mod lcg;
mod losses;
mod policy;
mod rules;
mod traced;
mod traversals;
mod vectors;
