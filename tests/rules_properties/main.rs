//! Properties of the rules and of the encodings, over random variants and random games.

mod cards;
mod cards_by_hand;
mod encoding;
mod history;
mod limits;
mod random_games;
mod transitions;
