//! Runs to their end, with what they reached.

use coorl_async::{
    config::{Config, GameKind, load},
    encoding::{Encoding, KuhnBits, LeducBits},
    game::{kuhn::Kuhn, leduc::Leduc},
    inference::StopFlag,
    telemetry::RunDir,
    training::{Exploitability, Session, TrainedGame},
};
use std::{
    path::Path,
    time::{Duration, Instant},
};

/// What a run came to.
#[derive(Clone, Copy, Debug)]
pub struct Reached {
    pub nash_conv: Exploitability,
    /// From the start of the session to its last word, measurements and checkpoints included.
    pub time: Duration,
}

/// Trains by a file of this repository, with `sets` as on the command line.
pub fn train(file: &str, sets: &[String]) -> Reached {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let config = load(&[path], [], sets)
        .unwrap_or_else(|error| panic!("{file} {sets:?}: {error}"))
        .config;
    match config.game {
        GameKind::Kuhn => run(Kuhn, KuhnBits, &config),
        GameKind::Leduc => run(Leduc, LeducBits, &config),
        GameKind::LostCities => panic!("{file} trains a game without known answers"),
    }
}

fn run<G: TrainedGame, E: Encoding<G>>(game: G, encoding: E, config: &Config) -> Reached {
    let place = tempfile::tempdir().expect("a temporary folder");
    let folder = RunDir::create_at(&place.path().join("run")).expect("a run's folder");
    let started = Instant::now();
    let session = Session::new(game, encoding, config, folder, None).expect("a session");
    let outcome = session
        .run(&StopFlag::default(), &mut ())
        .expect("a run to its end");
    Reached {
        nash_conv: outcome.exploitability.expect("a measured run"),
        time: started.elapsed(),
    }
}
