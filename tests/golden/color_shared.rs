//! `color_shared.jsonl.gz`: networks with one encoder for all colours, with and without attention.

use crate::{
    losses::flat_parameters,
    vectors::{array, floats, folder, integer, rows},
};
use coorl_async::{
    encoding::{self, ColorLayout, Encoding, Slots},
    game::lost_cities::{LostCities, Rules},
    network::{Architecture, Compile, Kind, Settings},
};
use safetensors::SafeTensors;
use serde_json::Value;
use tch::{Device, Tensor};

/// Largest error of an output.
const TOLERANCE: f64 = 1e-6;

#[test]
fn outputs_agree() {
    let path = folder().join("color_shared_weights.safetensors");
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let weights = SafeTensors::deserialize(&bytes).expect("a safetensors file");
    for row in rows("color_shared.jsonl.gz") {
        let layout = layout(&row);
        let network = architecture(&row, &layout);
        let id = integer(&row["id"]);
        assert_eq!(network.num_parameters() as i64, integer(&row["n_params"]));
        let parameters = flat_parameters(&network, &weights, &format!("case{id}"));
        let flat = Tensor::from_slice(&parameters).set_requires_grad(true);
        let bound = network.bind_snapshot(&parameters, Device::Cpu).unwrap();
        for (x, y) in array(&row["x"]).iter().zip(array(&row["y_f64"])) {
            let x = Tensor::from_slice(&floats(x)).view([1, -1]);
            for output in [
                network.forward(&flat, &x).unwrap(),
                bound.forward(&x).unwrap(),
            ] {
                let output = Vec::<f32>::try_from(output.view(-1)).unwrap();
                assert_eq!(output.len(), array(y).len());
                for (found, expected) in output.iter().zip(array(y)) {
                    let error = (f64::from(*found) - expected.as_f64().unwrap()).abs();
                    assert!(error < TOLERANCE, "row {id}: {found}, {expected}");
                }
            }
        }
    }
}

/// The recorded indices, which the slot encoding must name too.
fn layout(row: &Value) -> ColorLayout {
    let indices = |list: &Value| -> Vec<usize> {
        let list = array(list).iter();
        list.map(|index| integer(index) as usize).collect()
    };
    let length = |key: &str| integer(&row[key]) as usize;
    let info = array(&row["per_color_indices"]).iter().map(indices);
    let layout = ColorLayout::new(
        info.collect(),
        length("input_dim"),
        vec![],
        length("output_dim"),
    );
    assert_eq!(layout.common, indices(&row["common_indices"]));
    let flag = |key: &str| row[key].as_bool().expect("a flag");
    let settings = encoding::Settings {
        derived_playability: flag("derived_playability"),
        slot_aware_playability: flag("slot_aware_playability"),
        ..encoding::Settings::default()
    };
    let game = LostCities::new(Rules::default()).unwrap();
    assert_eq!(
        Slots::new(&game, &settings).color_layout().as_ref(),
        Some(&layout)
    );
    layout
}

fn architecture(row: &Value, layout: &ColorLayout) -> Architecture {
    let number = |key: &str| integer(&row[key]) as usize;
    let settings = Settings {
        kind: Kind::ColorShared,
        hidden_size: number("hidden"),
        num_layers: number("num_layers"),
        activation: serde_json::from_value(row["activation"].clone()).unwrap(),
        color_attention_layers: number("attention_layers"),
        color_attention_heads: number("attention_heads"),
        compile: Compile::None,
    };
    Architecture::new(
        &settings,
        number("input_dim"),
        number("output_dim"),
        Some(layout),
    )
    .unwrap()
}
