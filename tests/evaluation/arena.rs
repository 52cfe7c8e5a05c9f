//! Whole evaluations through the engine, with a network that answers with the row it is asked about.

use crate::players::{Patient, Shadow};
use crate::{classic, play, report, settings};
use coorl_async::bots::{BotError, ScriptedGame};
use coorl_async::evaluation::{
    Arena, Deals, Evaluated, EvaluationError, GameError, OnMaxSteps, OpponentReport, Settings,
};
use coorl_async::game::lost_cities::LostCities;
use coorl_async::inference::{
    self, Engine, EngineError, EngineThreads, Head, Network, NetworkControl, RowShape, StopFlag,
};

const SHAPE: RowShape = RowShape {
    info_len: 128,
    actions: 128,
};

#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Row,
    NotANumber,
    Failure,
}

/// Answers each row with itself, if it feels like it.
struct Mirror {
    rows: Vec<f32>,
    answer: Answer,
}

impl Network for Mirror {
    fn stage(&mut self, rows: usize) -> &mut [f32] {
        self.rows.resize(rows * SHAPE.info_len, 0.0);
        &mut self.rows
    }
    fn run(&mut self, head: Head, rows: usize) -> Result<&[f32], String> {
        assert_eq!(head, Head::STRATEGY, "evaluation asks the average strategy");
        match self.answer {
            Answer::Row => {}
            Answer::NotANumber => self.rows.fill(f32::NAN),
            Answer::Failure => return Err("no luck".into()),
        }
        Ok(&self.rows[..rows * SHAPE.actions])
    }
}

fn engine(
    max_batch: usize,
    capacity: usize,
    workers: usize,
    answer: Answer,
) -> (Engine, NetworkControl<Mirror>) {
    let settings = inference::Settings {
        max_batch,
        collect_timeout_us: 200,
        ..inference::Settings::default()
    };
    let build = move || {
        Ok(Mirror {
            rows: Vec::new(),
            answer,
        })
    };
    Engine::start(
        &settings,
        SHAPE,
        capacity,
        EngineThreads::new(workers, 2),
        build,
    )
    .expect("an engine")
}

const POLICY: Patient = Patient { patience: 3 };

fn arena_settings(games: usize, batch_size: usize) -> Settings {
    Settings {
        games,
        batch_size,
        ..settings(400, OnMaxSteps::ScoreDiff)
    }
}

fn evaluate(
    engine: &Engine,
    settings: &Settings,
    opponents: &[&str],
    stop: &StopFlag,
) -> Result<Vec<OpponentReport>, EvaluationError> {
    let (game, encoding) = (classic(), Shadow(POLICY));
    let arena = Arena {
        engine,
        policy: Evaluated::StrategyNetwork,
        game: &game,
        encoding: &encoding,
        settings,
        seed: 17,
    };
    let mut finished = Vec::new();
    let reports = arena.evaluate(opponents, Deals::Fresh { iteration: 3 }, stop, |count| {
        finished.push(count)
    })?;
    assert!(
        finished
            .into_iter()
            .eq(1..=opponents.len() * settings.games)
    );
    Ok(reports)
}

/// What must not depend on scheduling, bit for bit.
fn results(report: &OpponentReport) -> Vec<(&'static str, u64)> {
    let metrics = report
        .metrics()
        .filter(|(name, _)| !name.contains("second"));
    metrics
        .map(|(name, value)| (name, value.to_bits()))
        .collect()
}

#[test]
fn results_are_those_of_each_game_alone_however_games_are_batched() {
    let opponents = LostCities::bot_names();
    let game = classic();
    let limits = arena_settings(12, 5);
    let alone = opponents.iter().map(|name| {
        let bot = game.bot(name).expect("a bot");
        results(&report(
            (0..12).map(|number| play(&game, &POLICY, &bot, &limits, number)),
        ))
    });
    let alone: Vec<_> = alone.collect();
    for (max_batch, capacity, workers, batch_size) in [
        (1, 64, 1, 5),
        (64, 64, 2, 5),
        (7, 9, 3, 64),
        (64, 128, 2, 12),
    ] {
        let (engine, _control) = engine(max_batch, capacity, workers, Answer::Row);
        let reports = evaluate(
            &engine,
            &arena_settings(12, batch_size),
            opponents,
            &StopFlag::default(),
        )
        .unwrap();
        assert_eq!(reports.len(), opponents.len());
        for ((report, name), alone) in reports.iter().zip(opponents).zip(&alone) {
            assert_eq!(report.opponent(), *name);
            assert_eq!(
                &results(report),
                alone,
                "{name}, batches of {max_batch}, {workers} workers"
            );
            let seconds = report
                .metrics()
                .filter(|(name, _)| name.ends_with("_seconds"));
            for (metric, value) in seconds {
                assert!(value > 0.0, "{name}: {metric}");
            }
        }
    }
}

#[test]
fn every_spelling_of_an_opponent_meets_the_same_deals() {
    let (engine, _control) = engine(64, 64, 2, Answer::Row);
    let names = ["safe_heuristic", " Safe-Heuristic", "random"];
    let reports = evaluate(&engine, &arena_settings(8, 8), &names, &StopFlag::default()).unwrap();
    assert_eq!(results(&reports[0]), results(&reports[1]));
    assert_ne!(results(&reports[0]), results(&reports[2]));
    let mut keys = Vec::new();
    reports[1].emit(&mut |key, _| keys.push(key.to_owned()));
    assert!(
        keys.contains(&"eval/ Safe-Heuristic/win_rate0".to_owned()),
        "spelled as given"
    );
    assert!(
        evaluate(&engine, &arena_settings(8, 8), &[], &StopFlag::default())
            .unwrap()
            .is_empty()
    );
}

#[test]
fn what_cannot_be_played_is_refused_with_the_cause() {
    let (engine, _control) = engine(64, 64, 1, Answer::Row);
    let unknown = evaluate(
        &engine,
        &arena_settings(1, 1),
        &["random", "nobody"],
        &StopFlag::default(),
    );
    assert!(
        matches!(unknown, Err(EvaluationError::Bot(BotError::Unknown { name, .. })) if name == "nobody")
    );
    let zero = [
        (
            "games",
            Settings {
                games: 0,
                ..Settings::default()
            },
        ),
        (
            "max_steps",
            Settings {
                max_steps: 0,
                ..Settings::default()
            },
        ),
        (
            "batch_size",
            Settings {
                batch_size: 0,
                ..Settings::default()
            },
        ),
    ];
    for (name, settings) in zero {
        let refused = evaluate(&engine, &settings, &["random"], &StopFlag::default());
        assert!(matches!(refused, Err(EvaluationError::NotPositive { key }) if key == name));
    }
    let raised = StopFlag::default();
    raised.raise();
    let stopped = evaluate(
        &engine,
        &arena_settings(5_000, 8),
        &["safe_heuristic"],
        &raised,
    );
    assert!(matches!(
        stopped,
        Err(EvaluationError::Engine(EngineError::Interrupted))
    ));
}

#[test]
fn a_broken_network_names_the_first_game_and_a_failing_one_ends_the_evaluation() {
    let limits = arena_settings(4, 4);
    let (broken, _control) = engine(64, 64, 2, Answer::NotANumber);
    let names = ["random", "passive_discard"];
    match evaluate(&broken, &limits, &names, &StopFlag::default()) {
        Err(EvaluationError::Game {
            opponent,
            game,
            source: GameError::NoDecision { ply },
        }) => {
            assert_eq!((opponent.as_str(), game, ply), ("random", 0, 0));
        }
        other => panic!("{other:?}"),
    }
    let (failing, _control) = engine(64, 64, 2, Answer::Failure);
    let failed = evaluate(&failing, &limits, &names, &StopFlag::default());
    assert!(
        matches!(failed, Err(EvaluationError::Engine(EngineError::Network(cause))) if cause.contains("no luck"))
    );
}
