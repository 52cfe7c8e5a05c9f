//! What rules are accepted.

use coorl_async::game::lost_cities::{LostCities, Rules, RulesError};

/// A key with a way to set it and its limits, in a game that is valid at both.
type Limit = (&'static str, fn(&mut Rules) -> &mut i32, i32, i32, Rules);

fn limits() -> Vec<Limit> {
    let classic = Rules::default;
    let one_color = Rules {
        n_colors: 1,
        hand_size: 1,
        ..classic()
    };
    let one_rank = Rules {
        n_ranks: 1,
        n_handshakes: 1,
        n_colors: 10,
        hand_size: 1,
        ..classic()
    };
    let narrow = Rules {
        n_colors: 16,
        n_ranks: 9,
        n_handshakes: 0,
        ..classic()
    };
    let handshakes = Rules {
        n_colors: 1,
        n_ranks: 1,
        hand_size: 1,
        ..classic()
    };
    let points = 1_000_000;
    vec![
        (
            "n_colors",
            |r| &mut r.n_colors,
            1,
            16,
            Rules {
                n_ranks: 5,
                hand_size: 3,
                ..classic()
            },
        ),
        (
            "n_ranks",
            |r| &mut r.n_ranks,
            1,
            30,
            Rules {
                n_colors: 4,
                hand_size: 4,
                ..classic()
            },
        ),
        ("min_rank", |r| &mut r.min_rank, 1, 1_000, classic()),
        ("n_handshakes", |r| &mut r.n_handshakes, 0, 23, classic()),
        ("hand_size", |r| &mut r.hand_size, 1, 30, classic()),
        (
            "hand_size",
            |r| &mut r.hand_size,
            1,
            32,
            Rules {
                n_ranks: 10,
                ..classic()
            },
        ),
        (
            "bonus_threshold",
            |r| &mut r.bonus_threshold,
            1,
            i32::MAX,
            classic(),
        ),
        (
            "bonus_amount",
            |r| &mut r.bonus_amount,
            -points,
            points,
            classic(),
        ),
        (
            "expedition_penalty",
            |r| &mut r.expedition_penalty,
            -points,
            points,
            one_color,
        ),
        ("n_ranks", |r| &mut r.n_ranks, 1, 15, one_rank),
        ("hand_size", |r| &mut r.hand_size, 1, 32, narrow),
        // One number is no game for two, but one handshake more is.
        ("n_handshakes", |r| &mut r.n_handshakes, 1, 159, handshakes),
    ]
}

#[test]
fn rules_are_accepted_up_to_each_limit_and_refused_beyond_by_name() {
    for (key, field, low, high, base) in limits() {
        let with = |value: i32| {
            let mut rules = base.clone();
            *field(&mut rules) = value;
            (LostCities::new(rules.clone()).map(drop), rules)
        };
        for value in [low, high] {
            let (result, rules) = with(value);
            assert_eq!(result, Ok(()), "{rules:?}");
        }
        let beyond = [
            low.checked_sub(1),
            high.checked_add(1),
            Some(i32::MIN),
            Some(i32::MAX),
        ];
        for value in beyond
            .into_iter()
            .flatten()
            .filter(|value| !(low..=high).contains(value))
        {
            let (result, rules) = with(value);
            let message = result.expect_err(&format!("{rules:?}")).to_string();
            assert!(
                message.contains(&format!("rules.{key}")),
                "{key} = {value}: {message}"
            );
        }
    }
}

#[test]
fn a_deck_that_is_not_a_permutation_of_the_cards_is_refused() {
    let game = LostCities::new(Rules::default()).expect("classic rules");
    let cards = game.cards();
    let mut twice = cards.clone();
    twice[5] = twice[6];
    let mut foreign = cards.clone();
    foreign[0].rank = 10;
    for deck in [&cards[1..], &twice, &foreign, &[]] {
        assert_eq!(game.deal_deck(deck).err(), Some(RulesError::Deck));
    }
    assert!(game.deal_deck(&cards).is_ok());
}
