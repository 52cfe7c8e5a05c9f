//! Which names the scripted opponents go by, and which variants they play.

use super::{GameKind, schema::most_alike};
use crate::bots::{BotError, ScriptedGame};
use crate::game::{
    kuhn::Kuhn,
    leduc::Leduc,
    lost_cities::{LostCities, Rules},
};

/// The canonical names.
pub(super) fn bot_names() -> &'static [&'static str] {
    LostCities::bot_names()
}

/// `name` as names are compared: trimmed, lower-case, `-` as `_`.
pub(super) fn normal(name: &str) -> String {
    name.trim().to_lowercase().replace('-', "_")
}

/// Whether a scripted opponent of some game answers to `name` (trimmed, any case, `-` and `_` alike). Lost Cities has those of the
/// other games too.
pub(super) fn is_bot_name(name: &str) -> bool {
    !matches!(
        why_not(name, GameKind::LostCities, &Rules::default()),
        Some(BotError::Unknown { .. })
    )
}

/// Why the bot `name` cannot play `game` under `rules`; `None` if it can, or if the rules themselves are refused.
pub(super) fn why_not(name: &str, game: GameKind, rules: &Rules) -> Option<BotError> {
    match game {
        GameKind::LostCities => LostCities::new(rules.clone()).ok()?.bot(name).err(),
        GameKind::Kuhn => Kuhn.bot(name).err(),
        GameKind::Leduc => Leduc.bot(name).err(),
    }
}

/// The bot name or one of `others` that is most like `name`.
pub(super) fn nearest_name(name: &str, others: &[&'static str]) -> Option<String> {
    let known = bot_names().iter().chain(others);
    most_alike(&normal(name), known.copied())
}
