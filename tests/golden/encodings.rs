//! `encodings.jsonl.gz`: info states bit for bit, under each pair of flags.

use coorl_async::{
    encoding::{Encoding, Settings, Slots},
    game::Player,
};

use crate::vectors::{floats, fnv1a_floats, game, integer, replay_row, rows};

#[test]
fn info_states_are_as_recorded() {
    for (number, row) in rows("encodings.jsonl.gz").iter().enumerate() {
        let game = game(row);
        let state = replay_row(row);
        let observer = Player::BOTH[integer(&row["observer"]) as usize];
        let at = format!("row {number}, observer {observer:?}");
        assert_eq!(
            state.current_player().index() as i64,
            integer(&row["current_player"]),
            "{at}"
        );
        assert_eq!(state.phase() as i64, integer(&row["phase"]), "{at}");
        assert_eq!(state.is_terminal(), row["terminal"], "{at}");
        for (derived, slots) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let key = format!("d{derived}s{slots}");
            let at = format!("{at}, {key}");
            let settings = Settings {
                derived_playability: derived == 1,
                slot_aware_playability: slots == 1,
                ..Settings::default()
            };
            let encoding = Slots::new(&game, &settings);
            assert_eq!(
                encoding.info_len() as i64,
                integer(&row[format!("dim_{key}")]),
                "{at}"
            );
            // Filled with rubbish, so that a value that is not written shows.
            let mut info = vec![f32::NAN; encoding.info_len()];
            let legal = encoding.legal_actions(&game, &state);
            encoding.encode(&game, &state, observer, legal, &mut info);
            let wanted = floats(&row[format!("x_{key}")]);
            assert_eq!(info.len(), wanted.len(), "{at}");
            for (index, (value, wanted)) in info.iter().zip(wanted).enumerate() {
                // Adding zero makes one zero of the two.
                let [bits, wanted_bits] = [value + 0.0, wanted + 0.0].map(f32::to_bits);
                assert_eq!(
                    bits, wanted_bits,
                    "{at}, value {index}: {value} for {wanted}"
                );
            }
            assert_eq!(fnv1a_floats(&info), row[format!("fnv_{key}")], "{at}");
        }
    }
}
