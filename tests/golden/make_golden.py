"""Trains two small transformers in PyTorch, and writes down what Tapehead has to agree with.

Written for Debian 12's python3-torch (PyTorch 1.13). Each archive beside this script holds, for one model:
  metadata "config"   the sizes and the recipe, as Tapehead reads them
  every parameter     its starting value, under Tapehead's name
  tokens              (steps, B, T + 1) ids: a batch a step, the targets one token after the inputs
  logits              (B, T, V) of the starting model on the first batch
  losses              (steps) before each update, computed in float32
  losses_float64      (steps) the same run in float64
"""

import json
import math
import pathlib
import struct
import tomllib

import torch
from torch import nn
from torch.nn import functional as F

FOLDER = pathlib.Path(__file__).parent

ATTENTION_ONLY = """
[model]
vocabulary = 16
context = 12
width = 16
heads = 2
layers = 2

[task]
length = 12
period_min = 3
period_max = 6

[train]
steps = 50
batch = 4
learning_rate = 1e-2
betas = [0.9, 0.98]
weight_decay = 0.01
clip = 0.7
"""

EVERYTHING_ON = """
[model]
vocabulary = 12
context = 12
width = 16
heads = 4
layers = 2
feed_forward = 24
norm = "layer"
qkv_bias = true
bias = true
tied = true
gelu = "tanh"

[task]
length = 12
period_min = 3
period_max = 6

[train]
steps = 50
batch = 4
learning_rate = 5e-3
betas = [0.9, 0.98]
weight_decay = 0.1
clip = 1.0
"""


class LayerNorm(nn.Module):
    def __init__(self, width, bias):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, eps=1e-5)


class Attention(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.heads = model["heads"]
        self.qkv = nn.Linear(model["width"], 3 * model["width"], bias=model.get("qkv_bias", False))
        self.output = nn.Linear(model["width"], model["width"], bias=model.get("bias", False))

    def forward(self, x):
        batch, length, width = x.shape
        by_head = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.reshape(by_head).transpose(1, 2) for part in self.qkv(x).split(width, dim=-1))
        scores = q @ k.transpose(-1, -2) / math.sqrt(width // self.heads)
        later = torch.ones(length, length, dtype=torch.bool).triu(diagonal=1)
        pattern = scores.masked_fill(later, -math.inf).softmax(dim=-1)
        return self.output((pattern @ v).transpose(1, 2).reshape(x.shape))


class FeedForward(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.input = nn.Linear(model["width"], model["feed_forward"], bias=model["bias"])
        self.output = nn.Linear(model["feed_forward"], model["width"], bias=model["bias"])

    def forward(self, x):
        return self.output(F.gelu(self.input(x), approximate="tanh"))


def layer_norm_or_nothing(model):
    return LayerNorm(model["width"], model["bias"]) if model.get("norm") == "layer" else nn.Identity()


class Block(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.attention_norm = layer_norm_or_nothing(model)
        self.attention = Attention(model)
        if model.get("feed_forward"):
            self.feed_forward_norm = layer_norm_or_nothing(model)
            self.feed_forward = FeedForward(model)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        if hasattr(self, "feed_forward"):
            x = x + self.feed_forward(self.feed_forward_norm(x))
        return x


class Transformer(nn.Module):
    """Its parameters have Tapehead's names."""

    def __init__(self, model):
        super().__init__()
        self.embedding = nn.Embedding(model["vocabulary"], model["width"])
        self.positions = nn.Embedding(model["context"], model["width"])
        self.blocks = nn.Sequential(*(Block(model) for _ in range(model["layers"])))
        self.final_norm = layer_norm_or_nothing(model)
        if not model.get("tied"):
            self.unembedding = nn.Linear(model["width"], model["vocabulary"], bias=False)

    def forward(self, ids):
        x = self.embedding(ids) + self.positions.weight[: ids.shape[1]]
        x = self.final_norm(self.blocks(x))
        return F.linear(x, self.embedding.weight) if not hasattr(self, "unembedding") else self.unembedding(x)


def draw_parameters(network, generator):
    """Normals of deviation 1/sqrt(inputs) for matrices; biases and gains off 0 and 1, so that they count."""
    parameters = {}
    for name, parameter in network.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if parameter.ndim == 2:
            parameters[name] = noise / math.sqrt(parameter.shape[1])
        else:
            parameters[name] = 0.1 * noise + (1 if name.endswith("gain") else 0)
    return parameters


def draw_batch(config, generator):
    """Random segments, each repeated to fill its row of length + 1 tokens."""
    task, rows = config["task"], []
    for _ in range(config["train"]["batch"]):
        period = int(torch.randint(task["period_min"], task["period_max"] + 1, (), generator=generator))
        segment = torch.randint(config["model"]["vocabulary"], (period,), generator=generator)
        rows.append(segment.repeat(task["length"] // period + 1)[: task["length"] + 1])
    return torch.stack(rows)


def train(config, parameters, batches, dtype):
    """The logits of the starting model on the first batch, the loss before each update, and the norms."""
    network = Transformer(config["model"]).to(dtype)
    network.load_state_dict(parameters)
    recipe = config["train"]
    everything = list(network.parameters())
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in everything if p.ndim >= 2], "weight_decay": recipe["weight_decay"]},
            {"params": [p for p in everything if p.ndim < 2], "weight_decay": 0.0},
        ],
        lr=recipe["learning_rate"],
        betas=tuple(recipe["betas"]),
        eps=1e-8,
    )
    first_logits = network(batches[0][:, :-1]).detach()
    losses, norms = [], []
    for tokens in batches:
        logits = network(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        norms.append(float(nn.utils.clip_grad_norm_(everything, recipe["clip"])))
        optimizer.step()
        losses.append(loss.detach())
    return first_logits, torch.stack(losses), norms


def write_safetensors(path, tensors, metadata):
    """The format's 8 bytes of header length, header, and numbers, by name."""
    header, payload = {"__metadata__": metadata}, b""
    for name, tensor in sorted(tensors.items()):
        numbers = tensor.numpy().tobytes()
        header[name] = {
            "dtype": {torch.float32: "F32", torch.float64: "F64"}[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [len(payload), len(payload) + len(numbers)],
        }
        payload += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + payload)


def make(name, config_text, seed):
    config = tomllib.loads(config_text)
    generator = torch.Generator().manual_seed(seed)
    parameters = draw_parameters(Transformer(config["model"]), generator)
    batches = [draw_batch(config, generator) for _ in range(config["train"]["steps"])]
    logits, losses, norms = train(config, parameters, batches, torch.float32)
    _, losses_float64, _ = train(config, parameters, batches, torch.float64)

    clipped = sum(norm > config["train"]["clip"] for norm in norms)
    print(f"{name}: loss {losses[0]:.4f} to {losses[-1]:.4f}; {clipped} of {len(norms)} gradients clipped; "
          f"float32 is at most {(losses - losses_float64).abs().max():.1e} from float64")
    tensors = dict(parameters, tokens=torch.stack(batches).float(), logits=logits, losses=losses,
                   losses_float64=losses_float64)
    write_safetensors(FOLDER / f"{name}.safetensors", tensors, {"config": config_text})


if __name__ == "__main__":
    torch.set_num_threads(1)
    make("attention_only", ATTENTION_ONLY, seed=1)
    make("everything_on", EVERYTHING_ON, seed=2)
