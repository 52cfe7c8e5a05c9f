//! What a value-guided walk asks about a state, and the answers.

use super::{GuidedWalker, children::Child};
use crate::{
    encoding::Encoding,
    game::{ActionSet, Game, Player},
    inference::{Head, Stopped},
    traversal::{WalkSlot, seats::Seats},
};

/// What waits in a seat.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    Policy,
    Critic,
    /// The critic's answer about a child, by its number.
    Child(usize),
}

/// What is asked about a state.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The policy alone.
    Policy,
    /// The policy, the critic, and the critic about children.
    Everything,
}

/// The answers about a state, in reused memory.
#[derive(Default)]
pub(super) struct Answers {
    pub policy: Vec<f32>,
    pub critic: Vec<f32>,
    /// The info state that the policy saw.
    pub info: Vec<f32>,
    /// The info state that the critic saw.
    pub open: Vec<f32>,
}

impl<G: Game, E: Encoding<G>> GuidedWalker<G, E> {
    /// Asks what `about` says, of `children` about those whose game goes on, and waits for all answers. Children get their values. How much was
    /// asked.
    pub(super) async fn ask<L: WalkSlot>(
        &self,
        (state, mover, legal): (&G::State, Player, ActionSet),
        about: About,
        children: &mut [Child<G::State>],
        seats: &mut Seats<'_, L, Question>,
        answers: &mut Answers,
    ) -> Result<u64, Stopped> {
        let open = |number: &usize| children[*number].mover.is_some();
        let mut open: Vec<_> = (0..children.len())
            .filter(open)
            .map(Question::Child)
            .collect();
        match about {
            About::Policy => open.push(Question::Policy),
            About::Everything => open.extend([Question::Critic, Question::Policy]),
        }
        let asked = open.len() as u64;
        let mut answered = Vec::new();
        loop {
            while let Some(&question) = open.last()
                && let Some(seat) = seats.vacant()
            {
                open.pop();
                let of_state = (state, mover, legal);
                let (head, encoding, (state, mover, legal)) = match question {
                    Question::Policy => (Head::advantage(mover), &self.encoding, of_state),
                    Question::Critic => (Head::CRITIC, &self.sight, of_state),
                    Question::Child(number) => {
                        let Child { state, mover, .. } = &children[number];
                        let legal = self.sight.legal_actions(&self.game, state);
                        let mover = mover.unwrap_or(Player::P0);
                        (Head::CRITIC, &self.sight, (state, mover, legal))
                    }
                };
                let row = &mut seats.slot(seat).info_mut()[..encoding.info_len()];
                encoding.encode(&self.game, state, mover, legal, row);
                seats.ask(seat, head, question).await?;
            }
            if !seats.give_back_vacant() {
                return Ok(asked);
            }
            seats.wait(&mut answered).await?;
            for &seat in &answered {
                let Some((question, slot)) = seats.take(seat) else {
                    continue;
                };
                let (encoding, answer, info) = match question {
                    Question::Policy => (&self.encoding, &mut answers.policy, &mut answers.info),
                    Question::Critic => (&self.sight, &mut answers.critic, &mut answers.open),
                    Question::Child(number) => {
                        children[number].judge(slot.answer(), mover);
                        continue;
                    }
                };
                answer.clear();
                answer.extend_from_slice(&slot.answer()[..self.answer_len(question)]);
                info.clear();
                info.extend_from_slice(&slot.info()[..encoding.info_len()]);
            }
        }
    }

    fn answer_len(&self, question: Question) -> usize {
        match question {
            Question::Policy => self.encoding.num_actions(),
            Question::Critic | Question::Child(_) => self.critic_outputs(),
        }
    }
}
