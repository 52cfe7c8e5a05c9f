//! What a game must bring to be trained.

use crate::{bots::ScriptedGame, evaluation::Diagnosed, game::Enumerable};

/// A game with opponents, diagnostics and, in its small variants, exact measures.
pub trait TrainedGame: ScriptedGame + Diagnosed + Enumerable {}

impl<G: ScriptedGame + Diagnosed + Enumerable> TrainedGame for G {}
