//! Properties of the rules and of the encoding by slot, over random variants and random games.

mod encoding;
mod limits;
mod random_games;
mod transitions;
