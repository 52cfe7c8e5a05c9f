//! Flat f32 vectors as safetensors files and back.

use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, View, serialize};
use std::borrow::Cow;
use std::collections::HashMap;

/// A named tensor to write: name, shape, values.
pub(super) type Named<'a> = (String, Vec<usize>, &'a [f32]);

struct Values<'a> {
    shape: Vec<usize>,
    values: &'a [f32],
}

impl View for Values<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }
    fn shape(&self) -> &[usize] {
        &self.shape
    }
    fn data(&self) -> Cow<'_, [u8]> {
        let mut bytes = vec![0; self.data_len()];
        for (bytes, value) in bytes.chunks_exact_mut(4).zip(self.values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        Cow::Owned(bytes)
    }
    fn data_len(&self) -> usize {
        4 * self.values.len()
    }
}

/// The content of a safetensors file.
pub(super) fn write(tensors: Vec<Named<'_>>) -> Result<Vec<u8>, SafeTensorError> {
    let views = tensors
        .into_iter()
        .map(|(name, shape, values)| (name, Values { shape, values }));
    // What loaders of other programs ask for before they look at a file.
    let metadata = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    serialize(views, Some(metadata))
}

/// Appends the values of a tensor of the given shape (any shape when `None`) to `out`, or says what is wrong.
pub(super) fn read(
    file: &SafeTensors<'_>,
    name: &str,
    shape: Option<&[usize]>,
    out: &mut Vec<f32>,
) -> Result<(), String> {
    let tensor = file.tensor(name).map_err(|error| error.to_string())?;
    if tensor.dtype() != Dtype::F32 {
        return Err(format!(
            "tensor `{name}` is {:?} instead of F32",
            tensor.dtype()
        ));
    }
    if let Some(shape) = shape
        && shape != tensor.shape()
    {
        return Err(format!(
            "tensor `{name}` has shape {:?} instead of {shape:?}",
            tensor.shape()
        ));
    }
    let bytes = tensor.data().chunks_exact(4);
    out.extend(bytes.map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])));
    Ok(())
}
