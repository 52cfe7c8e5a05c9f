use super::*;
use crate::game::Player;
use crate::game::lost_cities::Card;
use crate::random::{Purpose, Stream};
use proptest::prelude::*;
use rand::seq::SliceRandom;

fn classic() -> LostCities {
    LostCities::new(Rules::default()).expect("the classic rules")
}

fn stream(number: u64) -> Stream {
    Stream::new(1, Purpose::Trial, number, 0)
}

/// A stream for bots that must not draw from one.
struct NoChance;

impl Randomness for NoChance {
    fn uniform(&mut self) -> f64 {
        panic!("a deterministic bot drew a double")
    }
    fn index(&mut self, _: usize) -> usize {
        panic!("a deterministic bot drew an index")
    }
}

#[test]
fn names_and_aliases_find_the_same_bots() {
    let game = classic();
    for (alias, canonical) in [
        (" Random\n", "random"),
        ("discard-only", "passive_discard"),
        ("PASSIVE-discard", "passive_discard"),
        ("heuristic_balanced", "safe_heuristic"),
        ("Heuristic-Aggressive", "safe_heuristic_loose"),
        ("heuristic-cautious", "safe_heuristic_strict"),
        ("heuristic_noisy", "noisy_safe"),
    ] {
        assert_eq!(game.bot(alias).expect(alias).name(), canonical);
    }
    for &name in LostCities::bot_names() {
        assert_eq!(game.bot(name).expect(name).name(), name);
    }
    let error = game
        .bot(" heuristic ")
        .expect_err("no such bot")
        .to_string();
    for part in ["\"heuristic\"", "safe_heuristic_strict", "noisy_safe"] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn heuristics_refuse_what_their_tables_do_not_hold() {
    let small = Rules {
        n_colors: 8,
        n_ranks: 16,
        n_handshakes: 0,
        hand_size: 16,
        ..Rules::default()
    };
    let too_large = [
        Rules {
            n_colors: 9,
            n_ranks: 4,
            ..small.clone()
        },
        Rules {
            n_ranks: 17,
            ..small.clone()
        },
        Rules {
            hand_size: 17,
            ..small.clone()
        },
    ];
    let names = LostCities::bot_names();
    for name in names {
        let game = LostCities::new(small.clone()).expect("valid rules");
        assert!(game.bot(name).is_ok(), "{name}");
    }
    for rules in too_large {
        let game = LostCities::new(rules.clone()).expect("valid rules");
        for &name in names {
            let refused = matches!(game.bot(name), Err(BotError::Limit { .. }));
            let has_limits = !["random", "passive_discard"].contains(&name);
            assert_eq!(refused, has_limits, "{name} under {rules:?}");
        }
    }
}

#[test]
fn random_is_uniform_over_the_legal_actions() {
    let game = classic();
    let bot = game.bot("random").expect("random");
    let mut rng = stream(1);
    let state = game.deal(&mut rng);
    let legal = game.legal_actions(&state);
    let mut counts = [0u32; ActionSet::CAPACITY];
    let draws = 26_000;
    for _ in 0..draws {
        counts[bot.act(&game, &state, &mut rng) as usize] += 1;
    }
    let expected = f64::from(draws) / legal.len() as f64;
    let chi_square: f64 = legal
        .iter()
        .map(|action| (f64::from(counts[action as usize]) - expected).powi(2) / expected)
        .sum();
    let freedom = legal.len() as f64 - 1.0;
    // Mean `freedom`, variance `2 freedom`: five standard deviations.
    assert!(
        chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(),
        "{chi_square}"
    );
    assert_eq!(
        legal
            .iter()
            .map(|action| counts[action as usize])
            .sum::<u32>(),
        draws
    );
}

#[test]
fn noisy_leaves_the_heuristic_as_often_as_it_should() {
    let game = classic();
    let (noisy, base) = (
        game.bot("noisy_safe").expect("a bot"),
        game.bot("safe_heuristic").expect("a bot"),
    );
    let (mut deviations, mut expected, mut variance) = (0.0, 0.0, 0.0);
    for seed in 0..200 {
        let mut rng = stream(seed);
        let mut state = game.deal(&mut rng);
        for _ in 0..100 {
            if game.mover(&state).is_none() {
                break;
            }
            let action = noisy.act(&game, &state, &mut rng);
            let others = 1.0 - 1.0 / game.legal_actions(&state).len() as f64;
            let chance = LostCitiesBot::NOISE * others;
            expected += chance;
            variance += chance * (1.0 - chance);
            if action != base.act(&game, &state, &mut NoChance) {
                deviations += 1.0;
            }
            game.apply(&mut state, action);
        }
    }
    assert!(expected > 1_000.0, "{expected}");
    let error: f64 = deviations - expected;
    assert!(
        error.abs() < 4.0 * variance.sqrt(),
        "{deviations} for {expected}"
    );
}

#[test]
fn passive_discard_discards_slot_0_and_draws_the_deck() {
    let game = classic();
    let bot = game.bot("passive_discard").expect("a bot");
    let mut state = game.deal(&mut stream(2));
    assert_eq!(bot.act(&game, &state, &mut NoChance), 1);
    game.apply(&mut state, 1);
    assert_eq!(bot.act(&game, &state, &mut NoChance), game.deck_action());
}

/// What nobody but its holder can know must not change a decision: at every step the unseen cards (the deck, and the
/// opponent's hand as far as it never lay open) change places, and the bot decides the same.
#[test]
fn decisions_do_not_depend_on_hidden_cards() {
    let game = classic();
    for (seed, name) in (0..).zip([
        "passive_discard",
        "safe_heuristic",
        "safe_heuristic_loose",
        "safe_heuristic_strict",
    ]) {
        let bot = game.bot(name).expect(name);
        let opponent = game.bot("random").expect("random");
        let mut rng = stream(seed);
        let mut deck = game.cards();
        deck.shuffle(&mut rng);
        let (mut actions, mut seen, mut compared) = (Vec::new(), Vec::new(), 0);
        let mut state = game.deal_deck(&deck).expect("a full deck");
        while let Some(mover) = game.mover(&state).filter(|_| actions.len() < 400) {
            let action = if mover == Player::P0 {
                let action = bot.act(&game, &state, &mut NoChance);
                let other = game.deal_deck(&reshuffled(&deck, &state, &seen, &mut rng));
                let mut other = other.expect("the same cards");
                for &action in &actions {
                    game.try_apply(&mut other, action)
                        .expect("the same public play");
                }
                assert_eq!(other.hand(mover), state.hand(mover));
                assert_eq!(
                    bot.act(&game, &other, &mut NoChance),
                    action,
                    "{name}, step {}",
                    actions.len()
                );
                compared += usize::from(other.hand(Player::P1) != state.hand(Player::P1));
                action
            } else {
                opponent.act(&game, &state, &mut rng)
            };
            if state.phase() == Phase::Card {
                seen.push(state.hand(mover)[action as usize / 2]);
            }
            game.apply(&mut state, action);
            actions.push(action);
        }
        assert!(compared > 20, "{name}: {compared} hands differed");
    }
}

/// The deck a game was dealt from, with the places of the cards that player 0 cannot know shuffled. Handshakes in the
/// opponent's hand stay: their copies cannot be told apart.
fn reshuffled(deck: &[Card], state: &State, seen: &[Card], rng: &mut Stream) -> Vec<Card> {
    let hidden = |card: &Card| card.rank > 0 && !seen.contains(card);
    let in_hand = state.hand(Player::P1).iter().filter(|card| hidden(card));
    let mut places: Vec<usize> = (0..state.deck_len()).collect();
    places.extend(in_hand.filter_map(|card| deck.iter().position(|other| other == card)));
    let mut cards: Vec<Card> = places.iter().map(|&place| deck[place]).collect();
    cards.shuffle(rng);
    let mut other = deck.to_vec();
    for (place, card) in places.into_iter().zip(cards) {
        other[place] = card;
    }
    other
}

prop_compose! {
    fn any_rules()(
        n_colors in 1..=8i32,
        n_ranks in 1..=16i32,
        n_handshakes in 0..=4i32,
        min_rank in 1..=5i32,
        expedition_penalty in -40..=10i32,
        bonus_threshold in 1..=12i32,
        bonus_amount in -10..=50i32,
        hand in 0.0..1.0f64,
    ) -> Rules {
        let most = (n_colors * (n_ranks + n_handshakes) / 2).min(16);
        let hand_size = 1 + (hand * f64::from(most)) as i32;
        Rules {
            n_colors, n_ranks, min_rank, n_handshakes,
            hand_size: hand_size.min(most).max(1),
            expedition_penalty, bonus_threshold, bonus_amount,
        }
    }
}

proptest! {
    #[test]
    fn every_bot_plays_legally_under_any_rules(rules in any_rules(), seed in any::<u64>()) {
        prop_assume!(rules.validate().is_ok());
        let game = LostCities::new(rules).expect("validated");
        let names = LostCities::bot_names();
        let mut rng = stream(seed);
        let mut state = game.deal(&mut rng);
        for step in 0..300 {
            if game.mover(&state).is_none() {
                break;
            }
            let legal = game.legal_actions(&state);
            let mut taken = None;
            for (number, name) in names.iter().enumerate() {
                let bot = game.bot(name).expect("within the limits");
                for bot in [bot, bot.twin()] {
                    let action = bot.act(&game, &state, &mut rng);
                    prop_assert!(legal.contains(action), "{name}: {action} at step {step}");
                    if number == step % names.len() {
                        taken = Some(action);
                    }
                }
            }
            game.apply(&mut state, taken.expect("one bot's turn"));
        }
    }
}
