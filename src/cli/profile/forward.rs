//! `coorl-async profile forward`: the network alone, by batch size.

use crate::{
    cli::{config::ConfigArgs, games::with_game, print},
    encoding::Encoding,
    game::Game,
    network::{Architecture, ArchitectureError, Kind, Settings},
    profiling::{Curve, Effort, sweep, table, ways},
    random::{Purpose, Stream},
    training::Role,
};
use anyhow::{Context, bail};
use serde::Serialize;

/// Arguments of `profile forward`.
#[derive(Clone, Debug, clap::Args)]
pub struct ForwardArgs {
    /// The sources of the configuration, whose networks are measured
    #[command(flatten)]
    pub sources: ConfigArgs,
    /// Measures a fully connected network of these widths instead, inputs first: 365,512,512,512,22
    #[arg(long, value_name = "WIDTHS", value_delimiter = ',')]
    pub shape: Option<Vec<usize>>,
    /// Batch sizes
    #[arg(long, value_name = "ROWS", value_delimiter = ',', default_values_t = BATCHES)]
    pub batches: Vec<usize>,
    /// Prints JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

const BATCHES: [usize; 14] = [
    1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1_024, 2_048, 4_096,
];
/// Larger batches than the executor ever runs tell nothing.
const LARGEST_BATCH: usize = 65_536;
/// Inputs of all rows of the largest batch: 1 GiB.
const MOST_INPUTS: usize = 1 << 28;

/// One network's measurements.
#[derive(Debug, Serialize)]
struct Measured {
    head: String,
    widths: Vec<usize>,
    parameters: usize,
    ways: Vec<Curve>,
}

/// Measures, and prints.
///
/// # Errors
/// Shapes and batch sizes that cannot be, a refused configuration, failures of the device.
pub fn run(args: &ForwardArgs) -> anyhow::Result<()> {
    let batches = ascending(&args.batches)?;
    let heads = match &args.shape {
        Some(shape) => vec![(
            "the given shape".to_owned(),
            of_shape(shape, &args.sources)?,
            0,
        )],
        None => of_configuration(&args.sources)?,
    };
    let mut all = Vec::new();
    for (head, architecture, number) in heads {
        let measured = measure(head, &architecture, number, &batches)?;
        if !args.json {
            print(words(&measured).as_bytes())?;
        }
        all.push(measured);
    }
    if args.json {
        let mut text = serde_json::to_vec_pretty(&all)?;
        text.push(b'\n');
        print(&text)?;
    }
    Ok(())
}

fn measure(
    head: String,
    architecture: &Architecture,
    number: u64,
    batches: &[usize],
) -> anyhow::Result<Measured> {
    let most = batches.last().copied().unwrap_or(1);
    if most.saturating_mul(architecture.inputs()) > MOST_INPUTS {
        bail!(
            "{most} rows of {} inputs are more than 1 GiB: give smaller --batches",
            architecture.inputs()
        );
    }
    let mut stream = Stream::new(0, Purpose::Weights, number, 0);
    let parameters = architecture.initial(&mut stream);
    let mut ways = ways(architecture, &parameters, most)
        .with_context(|| format!("{head}: the network cannot be set up"))?;
    Ok(Measured {
        head,
        widths: widths(architecture),
        parameters: parameters.len(),
        ways: sweep(&mut ways, batches, Effort::default())?,
    })
}

/// The inputs of every layer and the outputs of the last, from the layout's biases.
fn widths(architecture: &Architecture) -> Vec<usize> {
    let biases = architecture
        .layout()
        .iter()
        .filter(|view| view.shape.len() == 1);
    let widths = biases.map(|view| view.numel());
    std::iter::once(architecture.inputs())
        .chain(widths)
        .collect()
}

fn words(measured: &Measured) -> String {
    let widths: Vec<String> = measured.widths.iter().map(ToString::to_string).collect();
    format!(
        "{}: {}, {} parameters\n\n{}\n",
        measured.head,
        widths.join(" - "),
        measured.parameters,
        table(&measured.ways)
    )
}

fn of_configuration(sources: &ConfigArgs) -> anyhow::Result<Vec<(String, Architecture, u64)>> {
    let config = sources.load()?.config;
    let architecture = with_game!(&config, |game, encoding| network_of(
        &game,
        &encoding,
        &config.network
    ))?;
    let head = |role: Role| {
        let name = role.name().to_owned();
        (name, architecture.clone(), role.index() as u64)
    };
    Ok(Role::ALL.into_iter().map(head).collect())
}

/// The network of `settings` on the info states of `encoding`.
fn network_of<G: Game, E: Encoding<G>>(
    _: &G,
    encoding: &E,
    settings: &Settings,
) -> Result<Architecture, ArchitectureError> {
    let (inputs, outputs) = (encoding.info_len(), encoding.num_actions());
    Architecture::new(settings, inputs, outputs, encoding.color_layout().as_ref())
}

/// The fully connected network of these widths; the activation is the configuration's.
fn of_shape(shape: &[usize], sources: &ConfigArgs) -> anyhow::Result<Architecture> {
    let [inputs, hidden @ .., outputs] = shape else {
        bail!("--shape needs two widths at least, inputs and outputs: --shape 365,512,512,512,22");
    };
    let width = hidden.first().copied();
    if let Some(other) = hidden.iter().find(|&&other| Some(other) != width) {
        bail!(
            "--shape has hidden layers of {} and {other} units: all hidden layers of a network here are equally wide",
            hidden[0]
        );
    }
    let settings = Settings {
        kind: Kind::Mlp,
        hidden_size: width.unwrap_or(1),
        num_layers: hidden.len(),
        ..sources.load()?.config.network
    };
    Architecture::new(&settings, *inputs, *outputs, None).context("--shape is refused")
}

/// The sizes in ascending order, each once.
fn ascending(batches: &[usize]) -> anyhow::Result<Vec<usize>> {
    if let Some(wrong) = batches
        .iter()
        .find(|&&rows| !(1..=LARGEST_BATCH).contains(&rows))
    {
        bail!("--batches has {wrong}: a batch has 1 to {LARGEST_BATCH} rows");
    }
    let mut sorted = batches.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    Ok(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(shape: &[usize]) -> String {
        format!("{:#}", of_shape(shape, &ConfigArgs::default()).unwrap_err())
    }

    #[test]
    fn shapes_that_cannot_be_are_refused_with_the_reason() {
        assert!(refusal(&[365]).contains("two widths"));
        assert!(refusal(&[365, 512, 256, 22]).contains("512 and 256"));
        assert!(refusal(&[0, 512, 22]).contains("info state is 0"));
        assert!(refusal(&[365, 0, 22]).contains("hidden_size is 0"));
        let network = of_shape(&[365, 512, 512, 512, 22], &ConfigArgs::default()).unwrap();
        assert_eq!(widths(&network), [365, 512, 512, 512, 22]);
        assert_eq!(
            widths(&of_shape(&[5, 3], &ConfigArgs::default()).unwrap()),
            [5, 3]
        );
    }

    #[test]
    fn batches_are_sorted_and_bounded() {
        assert_eq!(ascending(&[8, 1, 8]).unwrap(), [1, 8]);
        assert!(
            ascending(&[1, 0])
                .unwrap_err()
                .to_string()
                .contains("has 0")
        );
        assert!(ascending(&[70_000]).is_err());
    }
}
