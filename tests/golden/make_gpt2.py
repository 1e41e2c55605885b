"""Makes small models in Hugging Face's GPT-2 layout with PyTorch, and writes down what they compute.

Written for Debian 12's python3-torch (PyTorch 1.13). Each folder gpt2-* beside this script holds:
  config.json             as transformers writes it
  model.safetensors       random weights
  reference.safetensors   tokens (B, T), and PyTorch's logits (B, T, V) and attention patterns (L, B, H, T, T)
"""

import json
import math
import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent / "exchange"))
sys.dont_write_bytecode = True
from gpt2_logits import compute, write_safetensors  # noqa: E402

VOCABULARY, POSITIONS, WIDTH, HEADS, LAYERS = 11, 8, 8, 2, 2


def draw_tensors(hidden, generator):
    """By name without a prefix; matrices (inputs, outputs). Biases and gains off 0 and 1, so that they count."""

    def normal(*shape):
        return torch.randn(*shape, generator=generator)

    tensors = {"wte.weight": normal(VOCABULARY, WIDTH), "wpe.weight": 0.5 * normal(POSITIONS, WIDTH)}

    def linear(name, inputs, outputs):
        tensors[name + ".weight"] = normal(inputs, outputs) * 1.5 / math.sqrt(inputs)
        tensors[name + ".bias"] = 0.3 * normal(outputs)

    def norm(name):
        tensors[name + ".weight"] = 1 + 0.3 * normal(WIDTH)
        tensors[name + ".bias"] = 0.3 * normal(WIDTH)

    for layer in range(LAYERS):
        block = f"h.{layer}."
        norm(block + "ln_1")
        linear(block + "attn.c_attn", WIDTH, 3 * WIDTH)
        linear(block + "attn.c_proj", WIDTH, WIDTH)
        norm(block + "ln_2")
        linear(block + "mlp.c_fc", WIDTH, hidden)
        linear(block + "mlp.c_proj", hidden, WIDTH)
    norm("ln_f")
    return tensors


def mask_buffers():
    """What older versions of transformers save beside the weights."""
    lower = torch.ones(POSITIONS, POSITIONS, dtype=torch.uint8).tril().reshape(1, 1, POSITIONS, POSITIONS)
    buffers = {}
    for layer in range(LAYERS):
        buffers[f"h.{layer}.attn.bias"] = lower
        buffers[f"h.{layer}.attn.masked_bias"] = torch.tensor(-1e4)
    return buffers


def make(name, seed, *, dtype, prefix, tied, head, masks, config):
    generator = torch.Generator().manual_seed(seed)
    hidden = config.get("n_inner") or 4 * WIDTH
    tensors = {key: tensor.to(dtype) for key, tensor in draw_tensors(hidden, generator).items()}
    if masks:
        tensors.update(mask_buffers())
    tensors = {prefix + key: tensor for key, tensor in tensors.items()}
    if head:
        table = torch.randn(VOCABULARY, WIDTH, generator=generator).to(dtype)
        tensors["lm_head.weight"] = tensors[prefix + "wte.weight"] if tied else table
    folder = FOLDER / name
    folder.mkdir(exist_ok=True)
    whole = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "n_layer": LAYERS,
        "n_head": HEADS,
        "n_embd": WIDTH,
        "n_positions": POSITIONS,
        "vocab_size": VOCABULARY,
        "layer_norm_epsilon": 1e-05,
        "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
        "tie_word_embeddings": tied,
        **config,
    }
    (folder / "config.json").write_text(json.dumps(whole, indent=2) + "\n")
    write_safetensors(folder / "model.safetensors", tensors, {"format": "pt"})

    ids = torch.randint(VOCABULARY, (2, POSITIONS), generator=generator)
    logits, patterns = compute(folder, ids)
    print(f"{name}: logits up to {logits.abs().max():.2f}, attention weights up to {patterns[..., 1:, :].max():.2f}")
    reference = {"tokens": ids.float(), "logits": logits, "patterns": patterns}
    write_safetensors(folder / "reference.safetensors", reference, {})


if __name__ == "__main__":
    torch.set_num_threads(1)
    make("gpt2-tied", 1, dtype=torch.float32, prefix="transformer.", tied=True, head=False, masks=True,
         config={"n_ctx": POSITIONS, "n_inner": None, "activation_function": "gelu_new"})
    make("gpt2-tied-bf16", 2, dtype=torch.bfloat16, prefix="transformer.", tied=True, head=True, masks=False,
         config={"activation_function": "gelu_pytorch_tanh", "resid_pdrop": 0.0, "embd_pdrop": 0.2, "attn_pdrop": 0.1})
    make("gpt2-untied-f16", 3, dtype=torch.float16, prefix="", tied=False, head=True, masks=True,
         config={"n_inner": 12, "activation_function": "gelu"})
