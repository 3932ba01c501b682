"""Writes a model folder of dragoman as one of CTranslate2, so that both run the same weights.

    python ctranslate2_folder.py MODEL OUTPUT

CTranslate2 takes the sinusoids as a table, so nothing is permuted; it works for post-norm and pre-norm, for one joint
vocabulary. Weights are float32; CTranslate2 converts them when it loads the folder.
"""

import json
import math
import pathlib
import sys

import numpy
from ctranslate2.specs import common_spec, transformer_spec
from safetensors.numpy import load_file

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "silu": "SWISH"}


def sinusoids(positions, d_model):
    rates = numpy.exp(numpy.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    angles = numpy.arange(positions)[:, None] * rates
    return numpy.stack((numpy.sin(angles), numpy.cos(angles)), axis=-1).reshape(positions, d_model).astype("float32")


class Folder:
    def __init__(self, folder):
        self.path = pathlib.Path(folder)
        self.config = json.loads((self.path / "config.json").read_text())
        self.tensors = load_file(self.path / "model.safetensors")

    def linear(self, spec, *paths):
        """One layer of several that read the same input; CTranslate2 stores weights as [d_out, d_in]."""
        spec.weight = numpy.concatenate([self.tensors[f"{path}.weight"].T for path in paths])
        spec.bias = numpy.concatenate([self.tensors[f"{path}.bias"] for path in paths])

    def norm(self, spec, path):
        spec.gamma, spec.beta = self.tensors[f"{path}.gain"], self.tensors[f"{path}.bias"]

    def attention(self, spec, path, is_self):
        query, others = f"{path}.query", (f"{path}.key", f"{path}.value")
        if is_self:
            self.linear(spec.linear[0], query, *others)
        else:
            self.linear(spec.linear[0], query)
            self.linear(spec.linear[1], *others)
        self.linear(spec.linear[-1], f"{path}.output")
        self.norm(spec.layer_norm, f"{path}.norm")

    def layer(self, spec, path):
        self.attention(spec.self_attention, f"{path}.self_attention", True)
        if hasattr(spec, "attention"):
            self.attention(spec.attention, f"{path}.cross_attention", False)
        self.linear(spec.ffn.linear_0, f"{path}.feed_forward.inner")
        self.linear(spec.ffn.linear_1, f"{path}.feed_forward.outer")
        self.norm(spec.ffn.layer_norm, f"{path}.feed_forward.norm")

    def stack(self, spec, side, embedding):
        embedding.weight = self.tensors["embedding.weight"]
        spec.scale_embeddings = True
        spec.position_encodings.encodings = sinusoids(self.config["max_positions"], self.config["d_model"])
        for index, layer in enumerate(spec.layer):
            self.layer(layer, f"{side}.layers.{index}")
        if self.config["norm_order"] == "pre":
            self.norm(spec.layer_norm, f"{side}.norm")

    def specification(self):
        config = self.config
        spec = transformer_spec.TransformerSpec.from_config(
            (config["encoder_layers"], config["decoder_layers"]),
            config["n_heads"],
            pre_norm=config["norm_order"] == "pre",
            activation=common_spec.Activation[ACTIVATIONS[config["activation"]]],
        )
        self.stack(spec.encoder, "encoder", spec.encoder.embeddings[0])
        self.stack(spec.decoder, "decoder", spec.decoder.embeddings)
        spec.decoder.projection.weight = self.tensors["embedding.weight"]
        return spec


def write(model, output):
    import sentencepiece

    folder = Folder(model)
    spec = folder.specification()
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(folder.path / "vocabulary.spm"))
    tokens = [pieces.id_to_piece(i) for i in range(folder.config["source_vocab_size"])]
    spec.register_source_vocabulary(tokens)
    spec.register_target_vocabulary(tokens)
    spec.config.bos_token, spec.config.eos_token, spec.config.unk_token = "<s>", "</s>", "<unk>"
    spec.config.decoder_start_token = "<s>"
    spec.config.add_source_eos = True
    spec.config.layer_norm_epsilon = folder.config.get("layer_norm_epsilon", 1e-5)
    spec.validate()
    pathlib.Path(output).mkdir(parents=True, exist_ok=True)
    spec.save(str(output))


if __name__ == "__main__":
    write(*sys.argv[1:])
