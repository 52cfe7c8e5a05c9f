//! Returns of the critic.

use crate::game::Player;

/// A decision of a walk, for the critic.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub player: Player,
    /// Player 0's value if the game were scored before the decision.
    pub standing: f64,
    /// The critic's value of the decision for its player: the policy's mean over actions.
    pub value: f64,
}

/// TD(lambda) returns of the actions taken, one per step, each for its own player.
///
/// With `r_i` the change of a player's standing from decision `i` to their next one (at last to `end`, the player's value of the end), `v_i` the
/// critic's value, and per player:
///
/// ```text
/// G_i = r_i + (1 - lambda) v_(i+1) + lambda G_(i+1)        G_last = r_last
/// ```
///
/// (Sutton and Barto, Reinforcement Learning, 2nd edition, equation 12.18, without discount.)
pub(super) fn returns(steps: &[Step], end: [f64; 2], lambda: f64) -> Vec<f64> {
    /// What comes after a decision, for one player and in their view.
    #[derive(Clone, Copy)]
    struct Next {
        standing: f64,
        value: f64,
        after: f64,
    }
    let sign = |player: Player| [1.0, -1.0][player.index()];
    let mut next = end.map(|standing| Next {
        standing,
        value: 0.0,
        after: 0.0,
    });
    let mut found = vec![0.0; steps.len()];
    for (step, found) in steps.iter().zip(&mut found).rev() {
        let later = &mut next[step.player.index()];
        let standing = sign(step.player) * step.standing;
        let reward = later.standing - standing;
        *found = reward + (1.0 - lambda) * later.value + lambda * later.after;
        *later = Next {
            standing,
            value: step.value,
            after: *found,
        };
    }
    found
}

/// A state that a walk came through, for a critic of states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stand {
    pub mover: Player,
    /// Player 0's value if the game were scored there.
    pub standing: f64,
    /// What the critic says is to come, for each player.
    pub values: [f64; 2],
}

/// TD(lambda) returns of the states of a walk for each player, as [`returns`] but from ply to ply, whoever moves.
pub(super) fn returns_to_both(stands: &[Stand], end: [f64; 2], lambda: f64) -> Vec<[f64; 2]> {
    let mut found = vec![[0.0; 2]; stands.len()];
    for (player, sign) in Player::BOTH.into_iter().zip([1.0, -1.0]) {
        let player = player.index();
        let (mut standing_after, mut value, mut after) = (end[player], 0.0, 0.0);
        for (stand, found) in stands.iter().zip(&mut found).rev() {
            let standing = sign * stand.standing;
            after = standing_after - standing + (1.0 - lambda) * value + lambda * after;
            found[player] = after;
            (standing_after, value) = (standing, stand.values[player]);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps() -> Vec<Step> {
        [
            (Player::P0, 0.0, 0.3),
            (Player::P1, 1.0, -0.2),
            (Player::P0, -1.0, 0.5),
            (Player::P1, 2.0, 0.1),
        ]
        .map(|(player, standing, value)| Step {
            player,
            standing,
            value,
        })
        .into()
    }

    #[test]
    fn at_lambda_one_they_are_what_the_rest_of_the_game_brought() {
        let found = returns(&steps(), [4.0, -4.0], 1.0);
        for (found, expected) in found.into_iter().zip([4.0, -3.0, 5.0, -2.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn at_lambda_zero_the_next_value_of_the_player_stands_for_the_rest() {
        let found = returns(&steps(), [4.0, -4.0], 0.0);
        // Player 0: from 0 to -1, then 0.5; from -1 to the end. Player 1: from -1 to -2, then 0.1; from -2 to -4.
        for (found, expected) in found.into_iter().zip([-0.5, -0.9, 5.0, -2.0]) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn in_between_they_are_the_recursion() {
        let found = returns(&steps(), [4.0, -4.0], 0.5);
        assert!((found[0] - (-1.0 + 0.5 * 0.5 + 0.5 * 5.0)).abs() < 1e-12);
        assert!((found[1] - (-1.0 + 0.5 * 0.1 + 0.5 * -2.0)).abs() < 1e-12);
        assert!(returns(&[], [1.0, -1.0], 0.5).is_empty());
    }

    #[test]
    fn returns_to_both_go_from_ply_to_ply() {
        let stands: Vec<_> = [(0.0, [0.3, -0.3]), (1.0, [0.5, -0.25]), (-1.0, [0.5, -0.5])]
            .map(|(standing, values)| Stand {
                mover: Player::P0,
                standing,
                values,
            })
            .into();
        let end = [4.0, -5.0];
        let found = returns_to_both(&stands, end, 1.0);
        assert_eq!(found, [[4.0, -5.0], [3.0, -4.0], [5.0, -6.0]]);
        let found = returns_to_both(&stands, end, 0.0);
        assert_eq!(found, [[1.5, -1.25], [-1.5, 1.5], [5.0, -6.0]]);
        let found = returns_to_both(&stands, end, 0.5);
        assert_eq!(found[1], [-2.0 + 0.25 + 2.5, 2.0 - 0.25 - 3.0]);
    }
}
