//! Every metric of a set of games that is not a time, recomputed from the deals and the action lists with plain lists of cards.

use coorl_async::game::lost_cities::{LostCities, Rules, State};
use coorl_async::game::{Action, Player};
use std::collections::BTreeMap;

/// `(colour, rank)`, rank 0 a handshake.
type CardPair = (u8, u8);

/// A played game: its deal, its actions in order, the policy's seat, and the entropy of each of the policy's decisions.
pub struct Played {
    pub deal: State,
    pub actions: Vec<Action>,
    pub policy: Player,
    pub finished: bool,
    pub entropies: Vec<f64>,
}

/// What counts for a game that was cut off.
#[derive(Clone, Copy, PartialEq)]
pub enum CutOff {
    Score,
    Lost,
    Drawn,
}

#[derive(Default)]
struct Sums {
    values: BTreeMap<&'static str, f64>,
    recoverable: Vec<f64>,
    finals: Vec<f64>,
    diffs: Vec<f64>,
    entropies: Vec<f64>,
    promise: [Vec<f64>; 2],
}

impl Sums {
    fn add(&mut self, name: &'static str, value: f64) {
        *self.values.entry(name).or_default() += value;
    }
    fn get(&self, name: &str) -> f64 {
        self.values.get(name).copied().unwrap_or(0.0)
    }
}

fn face(rules: &Rules, rank: u8) -> i32 {
    if rank == 0 {
        0
    } else {
        rules.min_rank + i32::from(rank) - 1
    }
}

fn expedition_score(rules: &Rules, ranks: &[u8]) -> i32 {
    if ranks.is_empty() {
        return 0;
    }
    let faces: i32 = ranks.iter().map(|&rank| face(rules, rank)).sum();
    let wagers = ranks.iter().filter(|&&rank| rank == 0).count() as i32;
    let bonus = if ranks.len() as i32 >= rules.bonus_threshold {
        rules.bonus_amount
    } else {
        0
    };
    (faces + rules.expedition_penalty) * (wagers + 1) + bonus
}

fn replay(rules: &Rules, played: &Played, cut_off: CutOff, sums: &mut Sums) {
    let pairs = |cards: &[coorl_async::game::lost_cities::Card]| -> Vec<CardPair> {
        cards.iter().map(|card| (card.color, card.rank)).collect()
    };
    let colors = rules.n_colors as usize;
    let mut hands = [
        pairs(played.deal.hand(Player::P0)),
        pairs(played.deal.hand(Player::P1)),
    ];
    let mut deck = pairs(played.deal.deck());
    let mut piles = vec![Vec::<u8>::new(); colors];
    let mut laid = [
        vec![Vec::<u8>::new(); colors],
        vec![Vec::<u8>::new(); colors],
    ];
    let mut promise = vec![0.0; colors];
    let policy = played.policy.index();
    // A turn is two plies of one player.
    for (ply, &action) in played.actions.iter().enumerate() {
        let (seat, action) = (ply / 2 % 2, action as usize);
        let mine = seat == policy;
        let size = 2 * rules.hand_size as usize;
        sums.add(
            if mine {
                "policy_turns"
            } else {
                "opponent_turns"
            },
            1.0,
        );
        let kind = match action {
            a if a < size && a % 2 == 0 => "play",
            a if a < size => "discard",
            a if a == size => "deck",
            _ => "pile",
        };
        if mine {
            sums.add(kind, 1.0);
        }
        match kind {
            "play" => {
                let color = hands[seat][action / 2].0 as usize;
                if mine && laid[seat][color].is_empty() {
                    let same: Vec<u8> = hands[seat]
                        .iter()
                        .filter(|card| card.0 as usize == color)
                        .map(|card| card.1)
                        .collect();
                    let faces: i32 = same.iter().map(|&rank| face(rules, rank)).sum();
                    let wagers = same.iter().filter(|&&rank| rank == 0).count() as i32;
                    let recoverable = (faces + rules.expedition_penalty) * (1 + wagers);
                    let class = if recoverable >= 0 {
                        "good"
                    } else if same.len() as i32 >= rules.bonus_threshold {
                        "weak"
                    } else {
                        "bad"
                    };
                    sums.add(class, 1.0);
                    sums.recoverable.push(f64::from(recoverable));
                    promise[color] = f64::from(recoverable);
                }
                let card = hands[seat].remove(action / 2);
                laid[seat][color].push(card.1);
            }
            "discard" => {
                let card = hands[seat].remove(action / 2);
                piles[card.0 as usize].push(card.1);
            }
            "deck" => hands[seat].push(deck.pop().unwrap()),
            _ => {
                let color = action - size - 1;
                hands[seat].push((color as u8, piles[color].pop().unwrap()));
            }
        }
    }
    let totals = [0, 1].map(|seat| {
        laid[seat]
            .iter()
            .map(|e| expedition_score(rules, e))
            .sum::<i32>()
    });
    let (own, other) = (f64::from(totals[policy]), f64::from(totals[1 - policy]));
    let result = match cut_off {
        CutOff::Lost if !played.finished => -1.0,
        CutOff::Drawn if !played.finished => 0.0,
        _ => own - other,
    };
    sums.add(
        if result > 0.0 {
            "wins"
        } else if result < 0.0 {
            "losses"
        } else {
            "draws"
        },
        1.0,
    );
    sums.add("timeouts", f64::from(u8::from(!played.finished)));
    sums.add("score0", own);
    sums.add("score1", other);
    sums.diffs.push(own - other);
    sums.entropies.extend(&played.entropies);
    let opened = laid[policy].iter().filter(|e| !e.is_empty()).count();
    sums.add("opened", opened as f64);
    sums.add("all_open", f64::from(u8::from(opened == colors)));
    sums.add("per_color", own / opened.max(1) as f64);
    for (color, ranks) in laid[policy]
        .iter()
        .enumerate()
        .filter(|(_, ranks)| !ranks.is_empty())
    {
        let score = expedition_score(rules, ranks);
        sums.add("cards", ranks.len() as f64);
        sums.finals.push(f64::from(score));
        if ranks.len() as i32 >= rules.bonus_threshold {
            sums.add("bonus", 1.0);
        }
        if score != 0 {
            sums.promise[usize::from(score < 0)].push(promise[color]);
        }
    }
}

fn average(values: &[f64]) -> f64 {
    if values.is_empty() {
        0.0
    } else {
        values.iter().sum::<f64>() / values.len() as f64
    }
}

/// The value a share `q` of the way through the sorted values.
fn quantile(values: &[f64], q: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() {
        return 0.0;
    }
    let at = q * (sorted.len() - 1) as f64;
    let weight = |i: usize| (1.0 - (at - i as f64).abs()).max(0.0);
    sorted
        .iter()
        .enumerate()
        .map(|(i, value)| weight(i) * value)
        .sum()
}

/// All 47 metrics of `games` that are not times, by name.
pub fn metrics(
    game: &LostCities,
    games: &[Played],
    cut_off: CutOff,
) -> BTreeMap<&'static str, f64> {
    let mut sums = Sums::default();
    for played in games {
        replay(game.rules(), played, cut_off, &mut sums);
    }
    let n = games.len() as f64;
    let decisions = sums.get("policy_turns").max(1.0);
    let openings = sums.recoverable.len() as f64;
    let count =
        |holds: &dyn Fn(f64) -> bool| sums.finals.iter().filter(|&&s| holds(s)).count() as f64;
    let only = |holds: &dyn Fn(f64) -> bool| -> Vec<f64> {
        sums.finals.iter().copied().filter(|&s| holds(s)).collect()
    };
    let expeditions = (sums.finals.len() as f64).max(1.0);
    let (positive, negative) = (count(&|s| s > 0.0), count(&|s| s < 0.0));
    let center = average(&sums.diffs);
    let variance = sums
        .diffs
        .iter()
        .map(|d| (d - center) * (d - center))
        .sum::<f64>()
        / (n - 1.0).max(1.0);
    BTreeMap::from([
        ("games", n),
        ("wins0", sums.get("wins")),
        ("wins1", sums.get("losses")),
        ("draws", sums.get("draws")),
        ("win_rate0", sums.get("wins") / n),
        ("win_rate1", sums.get("losses") / n),
        ("draw_rate", sums.get("draws") / n),
        ("avg_score0", sums.get("score0") / n),
        ("avg_score1", sums.get("score1") / n),
        ("avg_score_diff0", center),
        ("avg_score_diff0_se", (variance / n).sqrt()),
        (
            "avg_game_length",
            (sums.get("policy_turns") + sums.get("opponent_turns")) / n,
        ),
        ("max_step_timeouts", sums.get("timeouts")),
        ("policy_turns", sums.get("policy_turns")),
        ("opponent_turns", sums.get("opponent_turns")),
        ("play_action_rate", sums.get("play") / decisions),
        ("discard_action_rate", sums.get("discard") / decisions),
        ("draw_deck_rate", sums.get("deck") / decisions),
        ("draw_pile_rate", sums.get("pile") / decisions),
        ("policy_entropy", average(&sums.entropies)),
        ("opening_play_actions", openings / n),
        ("good_open_actions", sums.get("good") / n),
        ("weak_open_actions", sums.get("weak") / n),
        ("bad_open_actions", sums.get("bad") / n),
        ("good_open_rate", sums.get("good") / openings.max(1.0)),
        ("weak_open_rate", sums.get("weak") / openings.max(1.0)),
        ("bad_open_rate", sums.get("bad") / openings.max(1.0)),
        ("opening_recoverable_score_mean", average(&sums.recoverable)),
        ("avg_opened_colors", sums.get("opened") / n),
        ("avg_expedition_cards", sums.get("cards") / n),
        ("5_color_open_count", sums.get("all_open")),
        ("score_per_opened_color", sums.get("per_color") / n),
        ("per_game_positive_expeditions", positive / n),
        ("per_game_negative_expeditions", negative / n),
        ("per_game_breakeven_expeditions", count(&|s| s == 0.0) / n),
        ("per_game_bonus_expeditions", sums.get("bonus") / n),
        (
            "per_game_below_minus_20_expeditions",
            count(&|s| s < -20.0) / n,
        ),
        ("positive_expedition_rate", positive / expeditions),
        ("negative_expedition_rate", negative / expeditions),
        ("bonus_expedition_rate", sums.get("bonus") / expeditions),
        (
            "avg_final_score_per_opened_expedition",
            average(&sums.finals),
        ),
        ("final_expedition_score_p25", quantile(&sums.finals, 0.25)),
        ("final_expedition_score_median", quantile(&sums.finals, 0.5)),
        ("final_expedition_score_p75", quantile(&sums.finals, 0.75)),
        ("final_expedition_score_p90", quantile(&sums.finals, 0.9)),
        (
            "positive_expedition_score_mean",
            average(&only(&|s| s > 0.0)),
        ),
        (
            "negative_expedition_score_mean",
            average(&only(&|s| s < 0.0)),
        ),
        (
            "first_open_recoverable_score_mean_for_positive_final",
            average(&sums.promise[0]),
        ),
        (
            "first_open_recoverable_score_mean_for_negative_final",
            average(&sums.promise[1]),
        ),
    ])
}
