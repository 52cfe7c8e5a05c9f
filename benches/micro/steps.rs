//! What a node costs besides the network.

use crate::inputs::{self, Asking, Decision};
use coorl_async::{
    encoding::{Cards, Encoding},
    game::{ActionSet, Game, lost_cities::LostCities},
    inference::StopFlag,
    random::{Purpose, Randomness, Stream},
    regret::{Fallback, regret_matching},
};
use criterion::{
    BatchSize, BenchmarkGroup, BenchmarkId, Criterion, Throughput, measurement::WallTime,
};
use std::{hint::black_box, sync::Arc};

/// Input: the decisions of at least 10,000 plies of uniformly random play of the classic game; a pass goes through all of them.
pub fn game(criterion: &mut Criterion) -> anyhow::Result<()> {
    let (game, encoding) = inputs::classic()?;
    let decisions = inputs::random_play(&game, 10_000);
    let mut group = criterion.benchmark_group("game");
    group.throughput(Throughput::Elements(decisions.len() as u64));
    group.bench_function("legal_actions", |bencher| {
        bencher.iter(|| {
            for decision in &decisions {
                black_box(encoding.legal_actions(&game, &decision.state));
            }
        });
    });
    group.bench_function("apply", |bencher| {
        let states = || -> Vec<_> {
            let states = decisions.iter().map(|decision| decision.state.clone());
            states.collect()
        };
        bencher.iter_batched_ref(
            states,
            |states| {
                for (state, decision) in states.iter_mut().zip(&decisions) {
                    game.apply(state, decision.action);
                }
            },
            BatchSize::LargeInput,
        );
    });
    walk(
        &mut group,
        "legal_actions_encode_apply",
        &game,
        &encoding,
        &decisions,
    );
    let cards = Cards::new(&game)?;
    walk(
        &mut group,
        "legal_actions_encode_apply_cards",
        &game,
        &cards,
        &decisions,
    );
    group.finish();
    Ok(())
}

/// In place from deal to end, as a walk does it: the state lies in the first cache.
fn walk<E: Encoding<LostCities>>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    game: &LostCities,
    encoding: &E,
    decisions: &[Decision],
) {
    let mut row = vec![0.0f32; encoding.info_len()];
    let mut state = decisions.first().map(|decision| decision.state.clone());
    group.bench_function(name, |bencher| {
        bencher.iter(|| {
            for decision in decisions {
                if decision.opening {
                    state = Some(decision.state.clone());
                }
                let Some(state) = &mut state else { continue };
                let legal = encoding.legal_actions(game, state);
                if let Some(mover) = game.mover(state) {
                    encoding.encode(game, state, mover, legal, black_box(&mut row));
                }
                game.apply(state, decision.action);
            }
        });
    });
}

/// Input: 1,000 nodes with 2 to 9 legal actions of 22 and advantages uniform in -1 to 1, about one in 100 without a positive one.
pub fn regret(criterion: &mut Criterion) {
    let mut rng = Stream::new(1, Purpose::Trial, 0, 0);
    let nodes: Vec<(Vec<f32>, ActionSet)> = (0..1_000)
        .map(|_| {
            let advantages = (0..inputs::ACTIONS).map(|_| (2.0 * rng.uniform() - 1.0) as f32);
            let advantages = advantages.collect();
            let legal = (0..2 + rng.index(8)).map(|_| rng.index(inputs::ACTIONS) as u8);
            (advantages, legal.collect())
        })
        .collect();
    let mut policy = vec![0.0; inputs::ACTIONS];
    let mut group = criterion.benchmark_group("regret");
    group.throughput(Throughput::Elements(nodes.len() as u64));
    group.bench_function("regret_matching", |bencher| {
        bencher.iter(|| {
            for (advantages, legal) in &nodes {
                let fallback = Fallback::ArgmaxTiebreak;
                black_box(regret_matching(
                    advantages,
                    *legal,
                    1e-4,
                    fallback,
                    &mut policy,
                ));
            }
        });
    });
    group.finish();
}

/// Input: walks that ask 50 times and do nothing else, all in flight, rows of 297 values, a network that answers at once.
pub fn executor(criterion: &mut Criterion) -> anyhow::Result<()> {
    const REQUESTS: usize = 50;
    let mut group = criterion.benchmark_group("request");
    for in_flight in [64usize, 1_024, 8_192] {
        let (engine, _networks) = inputs::instant_engine(in_flight)?;
        group.throughput(Throughput::Elements((in_flight * REQUESTS) as u64));
        let id = BenchmarkId::new("in_flight", in_flight);
        group.bench_function(id, |bencher| {
            bencher.iter(|| {
                let job = Arc::new(Asking { requests: REQUESTS });
                engine.run(job, in_flight, in_flight, &StopFlag::default(), |_, ()| {})
            });
        });
    }
    group.finish();
    Ok(())
}
