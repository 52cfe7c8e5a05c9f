//! What a node costs besides the network: encoding, rules, and the way through the executor.

use crate::{
    inputs::{self, Asking, Decision},
    report::{Bound, Row, median},
};
use coorl_async::{
    encoding::{Cards, Encoding},
    game::{Game, lost_cities::LostCities},
    inference::{Engine, StopFlag},
    platform,
};
use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Instant,
};

/// Decisions of random play that are stepped and encoded.
const DECISIONS: usize = 20_000;
/// Passes over them; the median counts.
const PASSES: usize = 15;

/// Microseconds per item of each pass of `pass` over `items` items.
fn passes(items: usize, mut pass: impl FnMut()) -> Vec<f64> {
    pass();
    (0..PASSES)
        .map(|_| {
            let started = Instant::now();
            pass();
            started.elapsed().as_secs_f64() * 1e6 / items as f64
        })
        .collect()
}

/// Encoding a state, and legal actions with the step that follows, by slot and by card.
pub fn game() -> anyhow::Result<Vec<Row>> {
    let (game, slots) = inputs::classic()?;
    let cards = Cards::new(&game)?;
    let decisions = inputs::random_play(&game, DECISIONS);
    let mut row = vec![0.0f32; slots.info_len()];
    let source = row.clone();
    let copies = passes(decisions.len(), || {
        for _ in 0..decisions.len() {
            black_box(&mut row).copy_from_slice(black_box(&source));
        }
    });
    let copy = median(copies);
    let (encode, step) = encoding(&game, &slots, &decisions)?;
    let (encode_cards, step_cards) = encoding(&game, &cards, &decisions)?;
    let [by_slot, step_by_slot] = [&encode, &step].map(|rounds| median(rounds.clone()));
    let what = "encoding a state, classic game, random play";
    let step_what = "legal actions and apply, classic game, random play";
    let most = Bound::AtMost;
    Ok(vec![
        Row::new("encode", what, "us", most(0.6), encode).against("plain copy of a row", copy),
        Row::new("step", step_what, "us", most(0.1), step).against("plain copy of a row", copy),
        Row::new(
            "encode-cards",
            format!("{what}, by card"),
            "us",
            most(0.8),
            encode_cards,
        )
        .against("the same states by slot", by_slot),
        Row::new(
            "step-cards",
            format!("{step_what}, by card"),
            "us",
            None,
            step_cards,
        )
        .against("the same states by slot", step_by_slot),
    ])
}

/// Microseconds of each pass for encoding a state, and for legal actions with the step that follows: games of random play from deal to end, a
/// state changed in place as a walk does it, so that it lies in the first cache. What encoding costs is the difference between passes with
/// and without it.
fn encoding<E: Encoding<LostCities>>(
    game: &LostCities,
    encoding: &E,
    decisions: &[Decision],
) -> anyhow::Result<(Vec<f64>, Vec<f64>)> {
    let Some(first) = decisions.first() else {
        anyhow::bail!("random play met no decision");
    };
    let mut row = vec![0.0f32; encoding.info_len()];
    let mut state = first.state.clone();
    let steps = passes(decisions.len(), || {
        for decision in decisions {
            if decision.opening {
                state.clone_from(&decision.state);
            }
            black_box(encoding.legal_actions(game, &state));
            game.apply(black_box(&mut state), decision.action);
        }
    });
    let both = passes(decisions.len(), || {
        for decision in decisions {
            if decision.opening {
                state.clone_from(&decision.state);
            }
            let legal = black_box(encoding.legal_actions(game, &state));
            if let Some(mover) = game.mover(&state) {
                encoding.encode(game, &state, mover, legal, black_box(&mut row));
            }
            game.apply(black_box(&mut state), decision.action);
        }
    });
    let step = median(steps.clone());
    Ok((both.iter().map(|both| both - step).collect(), steps))
}

/// Walks in flight.
const IN_FLIGHT: usize = 1_024;
/// Requests of a walk in a round.
const REQUESTS: usize = 400;
const ROUNDS: usize = 41;

/// The way of a request through slots, queue, executor, lane and back, with a network that answers at once.
pub fn scheduling() -> anyhow::Result<Vec<Row>> {
    let (engine, _networks) = inputs::instant_engine(IN_FLIGHT)?;
    let requests = (IN_FLIGHT * REQUESTS) as f64;
    ask(&engine, REQUESTS / 4)?;
    let rounds: Vec<(f64, f64)> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            ask(&engine, REQUESTS)?;
            let through = started.elapsed().as_secs_f64() * 1e6 / requests;
            Ok((through, wake_ups()))
        })
        .collect::<anyhow::Result<_>>()?;
    let (through, wakes): (Vec<_>, Vec<_>) = rounds.into_iter().unzip();
    Ok(vec![
        Row::new(
            "scheduling",
            format!(
                "wall time / requests, {IN_FLIGHT} walks in flight that only ask, instant network, rows of {} values copied, {} workers",
                inputs::INFO_LEN,
                platform::logical_cores(),
            ),
            "us",
            Bound::AtMost(0.5),
            through,
        )
        .against("yield of a bare task on as many workers", median(wakes)),
    ])
}

fn ask(engine: &Engine, requests: usize) -> anyhow::Result<()> {
    let job = Arc::new(Asking { requests });
    engine.run(job, IN_FLIGHT, IN_FLIGHT, &StopFlag::default(), |_, ()| {})?;
    Ok(())
}

/// Microseconds per yield where as many bare tasks as walks do nothing but yield on the same number of workers.
fn wake_ups() -> f64 {
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(platform::logical_cores())
        .build()
    else {
        return f64::NAN;
    };
    let counter = Arc::new(AtomicU32::new(0));
    let started = Instant::now();
    let tasks: Vec<_> = (0..IN_FLIGHT)
        .map(|_| {
            let counter = Arc::clone(&counter);
            runtime.spawn(async move {
                for _ in 0..REQUESTS {
                    tokio::task::yield_now().await;
                }
                counter.fetch_add(1, Ordering::Relaxed);
            })
        })
        .collect();
    runtime.block_on(async {
        for task in tasks {
            drop(task.await);
        }
    });
    started.elapsed().as_secs_f64() * 1e6 / (IN_FLIGHT * REQUESTS) as f64
}
