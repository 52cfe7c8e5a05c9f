//! From the configuration's game to the types that stand for it.

/// Evaluates an expression with the game and the encoding of a configuration: `with_game!(config, |game, encoding| expression)`. The
/// expression is compiled once for each game and encoding. Returns early with an error where the rules are refused.
macro_rules! with_game {
    ($config:expr, |$game:ident, $encoding:ident| $body:expr) => {{
        use $crate::{config::GameKind, encoding, game};
        let config: &$crate::config::Config = $config;
        match config.game {
            GameKind::LostCities => {
                let $game = game::lost_cities::LostCities::new(config.rules.clone())?;
                $crate::cli::games::with_encoding!(&$game, config, |$encoding| $body)
            }
            GameKind::Kuhn => {
                let ($game, $encoding) = (game::kuhn::Kuhn, encoding::KuhnBits);
                $body
            }
            GameKind::Leduc => {
                let ($game, $encoding) = (game::leduc::Leduc, encoding::LeducBits);
                $body
            }
        }
    }};
}

/// The same for two configurations of one game: `with_pair!(a, b, |game, encoding_of_a, encoding_of_b| expression)`. The rules are those of
/// the first.
macro_rules! with_pair {
    ($a:expr, $b:expr, |$game:ident, $first:ident, $second:ident| $body:expr) => {{
        use $crate::{
            cli::games::with_encoding,
            config::GameKind,
            encoding::{KuhnBits, LeducBits},
            game,
        };
        let (a, b): (&$crate::config::Config, &$crate::config::Config) = ($a, $b);
        match a.game {
            GameKind::LostCities => {
                let $game = game::lost_cities::LostCities::new(a.rules.clone())?;
                with_encoding!(&$game, a, |$first| with_encoding!(&$game, b, |$second| {
                    $body
                }))
            }
            GameKind::Kuhn => {
                let ($game, $first, $second) = (game::kuhn::Kuhn, KuhnBits, KuhnBits);
                $body
            }
            GameKind::Leduc => {
                let ($game, $first, $second) = (game::leduc::Leduc, LeducBits, LeducBits);
                $body
            }
        }
    }};
}

/// Evaluates an expression with a configuration's encoding of Lost Cities.
macro_rules! with_encoding {
    ($game:expr, $config:expr, |$encoding:ident| $body:expr) => {
        match $config.encoding.kind {
            $crate::encoding::Kind::Slots => {
                let $encoding = $crate::encoding::Slots::new($game, &$config.encoding);
                $body
            }
            $crate::encoding::Kind::Cards => {
                let $encoding = $crate::encoding::Cards::new($game)?;
                $body
            }
        }
    };
}

pub(in crate::cli) use {with_encoding, with_game, with_pair};
