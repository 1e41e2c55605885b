"""Computes with PyTorch what exported models compute: a second opinion, written after the layouts alone.

    /usr/bin/python3 gpt2_logits.py FOLDER...

Every folder holds config.json and model.safetensors in one of three layouts (Hugging Face's GPT-2, nanoGPT and
minGPT, TransformerLens), and tokens.json, a list of rows of ids. Written beside them is logits.safetensors:
  logits     (B, T, V)
  patterns   (L, B, H, T, T) attention weights
Exit status 77 means that PyTorch is not installed. Written for Debian 12's python3-torch (PyTorch 1.13).
"""

import json
import math
import pathlib
import struct
import sys

try:
    import torch
    from torch.nn import functional as F
except ImportError as error:
    print(error)
    sys.exit(77)

DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "U8": torch.uint8}


def read_safetensors(path):
    """The tensors by name, and the metadata."""
    data = path.read_bytes()
    (length,) = struct.unpack_from("<Q", data)
    header, payload = json.loads(data[8 : 8 + length]), bytearray(data[8 + length :])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        numbers = torch.frombuffer(payload[begin:end], dtype=DTYPES[entry["dtype"]])
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors, metadata


def write_safetensors(path, tensors, metadata):
    header, payload = {"__metadata__": metadata}, b""
    for name, tensor in tensors.items():
        # NumPy has no bfloat16, but any array can be looked at as bytes.
        flat = tensor.contiguous().flatten()
        numbers = (flat.view(torch.int16) if flat.dtype == torch.bfloat16 else flat).numpy().tobytes()
        header[name] = {
            "dtype": {dtype: name for name, dtype in DTYPES.items()}[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(payload), len(payload) + len(numbers)],
        }
        payload += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + payload)


def attend(q, k, v):
    """Causal attention of (..., T, D), and its pattern."""
    length, width = q.shape[-2:]
    later = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
    pattern = (q @ k.transpose(-1, -2) / math.sqrt(width)).masked_fill(later, -math.inf).softmax(dim=-1)
    return pattern @ v, pattern


def gelu(x, tanh):
    return F.gelu(x, approximate="tanh" if tanh else "none")


def gpt2(tensors, ids, layers, heads, tied, tanh, linear):
    """`linear(x, weight)` is the product with a matrix as the layout keeps it. Biases may be absent."""

    def layer_norm(x, name):
        weight = tensors[name + ".weight"]
        return F.layer_norm(x, weight.shape, weight, tensors.get(name + ".bias"), 1e-5)

    def apply(x, name):
        bias = tensors.get(name + ".bias")
        y = linear(x, tensors[name + ".weight"])
        return y if bias is None else y + bias

    x = tensors["wte.weight"][ids] + tensors["wpe.weight"][: ids.shape[1]]
    patterns = []
    for layer in range(layers):
        block = f"h.{layer}."
        qkv = apply(layer_norm(x, block + "ln_1"), block + "attn.c_attn").chunk(3, dim=-1)
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in qkv)
        z, pattern = attend(q, k, v)
        patterns.append(pattern)
        x = x + apply(z.transpose(1, 2).flatten(2), block + "attn.c_proj")
        hidden = gelu(apply(layer_norm(x, block + "ln_2"), block + "mlp.c_fc"), tanh)
        x = x + apply(hidden, block + "mlp.c_proj")
    head = tensors["wte.weight"] if tied else tensors["lm_head.weight"]
    return layer_norm(x, "ln_f") @ head.T, torch.stack(patterns)


def hugging_face(config, tensors, metadata, ids):
    return gpt2(
        tensors,
        ids,
        layers=config["n_layer"],
        heads=config["n_head"],
        tied=config["tie_word_embeddings"],
        tanh=config["activation_function"] != "gelu",
        linear=lambda x, weight: x @ weight,
    )


def nanogpt(config, tensors, metadata, ids):
    names = {name for name in tensors if name.endswith(".bias")}
    assert bool(names) == config["bias"], names
    return gpt2(
        tensors,
        ids,
        layers=config["n_layer"],
        heads=config["n_head"],
        tied=False,
        tanh=metadata["gelu"] == "tanh",
        linear=lambda x, weight: x @ weight.T,
    )


def transformer_lens(config, tensors, metadata, ids):
    def layer_norm(x, name):
        if config["normalization_type"] is None:
            return x
        return F.layer_norm(x, x.shape[-1:], tensors[name + ".w"], tensors[name + ".b"], config["eps"])

    x = tensors["embed.W_E"][ids] + tensors["pos_embed.W_pos"][: ids.shape[1]]
    patterns = []
    for layer in range(config["n_layers"]):
        block = f"blocks.{layer}."
        attn = block + "attn."
        read = layer_norm(x, block + "ln1")[:, None]
        # One product a head: (B, 1, T, C) with (H, C, D).
        q, k, v = (read @ tensors[attn + "W_" + part] + tensors[attn + "b_" + part][:, None] for part in "QKV")
        assert q.shape[1:] == (config["n_heads"], ids.shape[1], config["d_head"])
        z, pattern = attend(q, k, v)
        patterns.append(pattern)
        x = x + (z @ tensors[attn + "W_O"]).sum(dim=1) + tensors[attn + "b_O"]
        if not config["attn_only"]:
            mlp = block + "mlp."
            hidden = layer_norm(x, block + "ln2") @ tensors[mlp + "W_in"] + tensors[mlp + "b_in"]
            x = x + gelu(hidden, config["act_fn"] == "gelu_new") @ tensors[mlp + "W_out"] + tensors[mlp + "b_out"]
    logits = layer_norm(x, "ln_final") @ tensors["unembed.W_U"] + tensors["unembed.b_U"]
    return logits, torch.stack(patterns)


def compute(folder, ids):
    """Logits and patterns of the model in a folder. Numbers of less than 32 bits are widened first."""
    config = json.loads((folder / "config.json").read_text())
    tensors, metadata = read_safetensors(folder / "model.safetensors")
    wide = {}
    for name, tensor in tensors.items():
        double = tensor.dtype == torch.float64
        wide[name.removeprefix("transformer.")] = tensor if double else tensor.float()
    layout = transformer_lens if "d_model" in config else nanogpt if "block_size" in config else hugging_face
    return layout(config, wide, metadata, ids)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for argument in sys.argv[1:]:
        path = pathlib.Path(argument)
        logits, patterns = compute(path, torch.tensor(json.loads((path / "tokens.json").read_text())))
        write_safetensors(path / "logits.safetensors", {"logits": logits, "patterns": patterns}, {})
