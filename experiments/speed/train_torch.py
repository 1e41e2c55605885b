#!/usr/bin/env python3
"""Times training steps of a config's model in PyTorch, for comparison with `tapehead bench`.

    train_torch.py CONFIG [--threads N] [--workers N] [--plain] [--seconds S] [--steps N] [--json]
    train_torch.py --attention LENGTH [the same options]

The model, the loss, clipping and AdamW are those of Tapehead; batches are random tokens, drawn before the clock
starts. With --attention it times attention alone, forward and backward from q, k and v of (4, 12, LENGTH, 64).
Written for Debian 12's python3-torch (PyTorch 1.13) and for speed: every choice below is the fastest of those
tried there. --plain takes attention as it is commonly written instead. It does not evaluate, and keeps the
learning rate constant.
"""

import argparse
import ctypes
import json
import math
import os
import resource
import statistics
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import nn
from torch.nn import functional as F

WARM_UP = 3
ENOUGH = 3  # steps, however long they take
BATCHES = 16
BLOCK = 128
SETTINGS = ("OMP_", "GOMP_", "OPENBLAS_", "MALLOC_", "GLIBC_TUNABLES", "ATEN_", "LD_PRELOAD")

# What a config may leave out, as Tapehead has it.
DEFAULTS = {
    "model": dict(vocabulary=64, context=64, width=64, heads=2, layers=2, feed_forward=0, norm="none", qkv_bias=False, bias=False, tied=False, dropout=0.0,
                  positions="learned", gelu="tanh"),
    "train": dict(batch=32, optimizer="adamw", learning_rate=3e-3, betas=[0.9, 0.98], epsilon=1e-8,
                  weight_decay=0.01, clip=1.0),
    "task": dict(length=48),
}
# What this script has only one of.
FIXED = {("model", "dropout"): 0, ("model", "positions"): "learned", ("train", "optimizer"): "adamw"}


class CausalAttention(torch.autograd.Function):
    """softmax(q k' / sqrt(D) + mask) v of (N, T, D), a block of queries at a time: a block needs no later keys.

    `torch.nn.functional._scaled_dot_product_attention` computes every score, and was slower at lengths of 64, 512
    and 1,024.
    """

    @staticmethod
    def forward(ctx, q, k, v, mask):
        scale, output, patterns = q.shape[2] ** -0.5, torch.empty_like(q), []
        for start in range(0, q.shape[1], BLOCK):
            end = min(start + BLOCK, q.shape[1])
            keys = k[:, :end].transpose(1, 2)
            scores = torch.baddbmm(mask[start:end, :end], q[:, start:end], keys, alpha=scale)
            patterns.append(scores.softmax(-1))
            output[:, start:end] = torch.bmm(patterns[-1], v[:, :end])
        ctx.save_for_backward(q, k, v, *patterns)
        return output

    @staticmethod
    def backward(ctx, upstream):
        q, k, v, *patterns = ctx.saved_tensors
        scale = q.shape[2] ** -0.5
        dq, dk, dv = torch.empty_like(q), torch.zeros_like(k), torch.zeros_like(v)
        for start, pattern in zip(range(0, q.shape[1], BLOCK), patterns):
            end = pattern.shape[2]
            block = upstream[:, start:end]
            dv[:, :end].baddbmm_(pattern.transpose(1, 2), block)
            dpattern = torch.bmm(block, v[:, :end].transpose(1, 2))
            dscores = torch._softmax_backward_data(dpattern, pattern, -1, pattern.dtype).mul_(scale)
            dq[:, start:end] = torch.bmm(dscores, k[:, :end])
            dk[:, :end].baddbmm_(dscores.transpose(1, 2), q[:, start:end])
        return dq, dk, dv, None


def plain_attention(q, k, v, mask):
    """The same as it is commonly written."""
    scores = torch.baddbmm(mask, q, k.transpose(1, 2), alpha=q.shape[2] ** -0.5)
    return torch.bmm(scores.softmax(-1), v)


def causal_mask(length):
    return torch.full((length, length), -math.inf).triu(diagonal=1)


class LayerNorm(nn.Module):
    """As torch.nn.LayerNorm, which cannot be without a bias."""

    def __init__(self, width, bias):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x):
        return F.layer_norm(x, self.gain.shape, self.gain, self.bias, eps=1e-5)


class Attention(nn.Module):
    def __init__(self, model, attend, mask):
        super().__init__()
        self.heads, self.attend, self.mask = model["heads"], attend, mask
        self.qkv = nn.Linear(model["width"], 3 * model["width"], bias=model["qkv_bias"])
        self.output = nn.Linear(model["width"], model["width"], bias=model["bias"])

    def forward(self, x):
        batch, length, width = x.shape
        size = width // self.heads
        # One copy for all three: what bmm reads has to be contiguous.
        qkv = self.qkv(x).view(batch, length, 3, self.heads, size).permute(2, 0, 3, 1, 4).contiguous()
        q, k, v = qkv.view(3, batch * self.heads, length, size).unbind(0)
        heads = self.attend(q, k, v, self.mask).view(batch, self.heads, length, size)
        return self.output(heads.transpose(1, 2).reshape(batch, length, width))


class FeedForward(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.input = nn.Linear(model["width"], model["feed_forward"], bias=model["bias"])
        self.output = nn.Linear(model["feed_forward"], model["width"], bias=model["bias"])
        self.approximate = "tanh" if model["gelu"] == "tanh" else "none"

    def forward(self, x):
        return self.output(F.gelu(self.input(x), approximate=self.approximate))


def layer_norm_or_nothing(model):
    return LayerNorm(model["width"], model["bias"]) if model["norm"] == "layer" else nn.Identity()


class Block(nn.Module):
    def __init__(self, model, attend, mask):
        super().__init__()
        self.attention_norm = layer_norm_or_nothing(model)
        self.attention = Attention(model, attend, mask)
        self.feed_forward = None
        if model["feed_forward"]:
            self.feed_forward_norm = layer_norm_or_nothing(model)
            self.feed_forward = FeedForward(model)

    def forward(self, x):
        x = x + self.attention(self.attention_norm(x))
        if self.feed_forward is not None:
            x = x + self.feed_forward(self.feed_forward_norm(x))
        return x


class Transformer(nn.Module):
    """Its parameters have Tapehead's names. Their starting values, all small, do not matter to the clock."""

    def __init__(self, model, length, attend):
        super().__init__()
        mask = causal_mask(length)
        self.embedding = nn.Embedding(model["vocabulary"], model["width"])
        self.positions = nn.Embedding(model["context"], model["width"])
        self.blocks = nn.Sequential(*(Block(model, attend, mask) for _ in range(model["layers"])))
        self.final_norm = layer_norm_or_nothing(model)
        self.unembedding = nn.Linear(model["width"], model["vocabulary"], bias=False)
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.02)
        if model["tied"]:
            self.unembedding.weight = self.embedding.weight

    def forward(self, ids):
        x = self.embedding(ids) + self.positions.weight[: ids.shape[1]]
        return self.unembedding(self.final_norm(self.blocks(x)))


class InParts:
    """Calls a function on every part of a batch at the same time, each on a Python thread of its own."""

    def __init__(self, workers):
        self.workers = workers
        self.pool = ThreadPoolExecutor(workers)

    def map(self, function, *lists):
        return list((map if self.workers == 1 else self.pool.map)(function, *lists))


def clip_gradients(gradients, limit):
    norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(gradients)))
    if norm > limit:
        torch._foreach_mul_(gradients, float(limit / (norm + 1e-6)))


def training_step(config, parts, attend):
    """A function that does one step of training, and returns the loss."""
    model, recipe, length = config["model"], config["train"], config["task"]["length"]
    network = Transformer(model, length, attend)
    parameters = list(network.parameters())
    decayed = [p for p in parameters if p.ndim >= 2]
    others = [p for p in parameters if p.ndim < 2]
    optimizer = torch.optim.AdamW(
        [dict(params=decayed, weight_decay=recipe["weight_decay"])]
        + ([dict(params=others, weight_decay=0.0)] if others else []),
        lr=recipe["learning_rate"], betas=tuple(recipe["betas"]), eps=recipe["epsilon"], foreach=True)

    def batch():
        tokens = torch.randint(model["vocabulary"], (recipe["batch"], length + 1))
        inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
        return inputs.chunk(parts.workers), [part.flatten() for part in targets.chunk(parts.workers)]

    batches, done = [batch() for _ in range(BATCHES)], 0

    def part_of_gradient(inputs, targets):
        loss = F.cross_entropy(network(inputs).flatten(0, 1), targets, reduction="sum")
        loss = loss / (recipe["batch"] * length)
        return loss.detach(), torch.autograd.grad(loss, parameters)

    def step():
        nonlocal done
        results = parts.map(part_of_gradient, *batches[done % BATCHES])
        done += 1
        gradients = list(results[0][1])
        for _, more in results[1:]:
            torch._foreach_add_(gradients, list(more))
        if recipe["clip"] > 0:
            clip_gradients(gradients, recipe["clip"])
        for parameter, gradient in zip(parameters, gradients):
            parameter.grad = gradient
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        return sum(loss for loss, _ in results)

    return step


def attention_step(length, parts, attend, batch=4, heads=12, width=64):
    """A function that does attention forward and backward."""
    tensors = [torch.randn(batch * heads, length, width) for _ in range(4)]
    mask = causal_mask(length)

    def part_of_gradient(upstream, *qkv):
        output = attend(*qkv, mask)
        return torch.autograd.grad(output, qkv, upstream)

    split = [[part.requires_grad_() for part in tensor.chunk(parts.workers)] for tensor in tensors]
    return lambda: parts.map(part_of_gradient, *split)


def read_config(path):
    try:
        with open(path, "rb") as file:
            config = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise SystemExit(f"[train_torch] {path}: {error}") from None
    for table, defaults in DEFAULTS.items():
        config[table] = {**defaults, **config.get(table, {})}
    for (table, key), value in FIXED.items():
        if config[table][key] != value:
            raise SystemExit(f"[train_torch] {path}: expected {table}.{key} {value!r}, got {config[table][key]!r}")
    return config


def milliseconds_of_steps(step, seconds, steps):
    """Of as many steps as told, or else as fit in the seconds."""
    for _ in range(WARM_UP if steps is None else min(WARM_UP, max(1, steps // 3))):
        step()
    times, begin = [], time.perf_counter()
    while (len(times) < steps if steps is not None
           else len(times) < ENOUGH or time.perf_counter() - begin < seconds):
        start = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def openblas_core():
    """The processor that OpenBLAS takes this one for, which decides its kernels; None if it is not there."""
    try:
        library = ctypes.CDLL("libopenblas.so.0")
    except OSError:
        return None
    library.openblas_get_corename.restype = ctypes.c_char_p
    return library.openblas_get_corename().decode()


def positive(number):
    value = float(number)
    if not value > 0:
        raise ValueError
    return value


def count(number):
    value = int(number)
    if value < 1:
        raise ValueError
    return value


def options():
    parser = argparse.ArgumentParser(description="Times training steps in PyTorch.")
    parser.add_argument("config", nargs="?", help="a config of Tapehead")
    parser.add_argument("--attention", type=count, metavar="LENGTH", help="time attention alone, in place of a config")
    parser.add_argument("--threads", type=count, default=1, help="PyTorch's threads within an operation (1)")
    parser.add_argument("--workers", type=count, default=1,
                        help="parts of the batch computed at the same time, on as many Python threads (1)")
    parser.add_argument("--plain", action="store_true", help="attention as it is commonly written")
    parser.add_argument("--seconds", type=positive, default=3.0, help="how long to measure (3)")
    parser.add_argument("--steps", type=count, help="how many steps to measure, in place of seconds")
    parser.add_argument("--json", action="store_true", help="print one JSON object on one line")
    given = parser.parse_args()
    if (given.config is None) == (given.attention is None):
        parser.error("expected either CONFIG or --attention LENGTH")
    return given


def measure(given):
    parts = InParts(given.workers)
    attend = plain_attention if given.plain else CausalAttention.apply
    if given.attention is not None:
        name, tokens = f"attention {given.attention}", 4 * given.attention
        step = attention_step(given.attention, parts, attend)
    else:
        config = read_config(given.config)
        name, tokens = given.config, config["train"]["batch"] * config["task"]["length"]
        step = training_step(config, parts, attend)

    times = milliseconds_of_steps(step, given.seconds, given.steps)
    low, median, high = statistics.quantiles(times, n=4, method="inclusive") if len(times) > 1 else 3 * times
    return {
        "config": name,
        "threads": given.threads,
        "workers": given.workers,
        "steps": len(times),
        "ms_per_step": median,
        "ms_low": low,
        "ms_high": high,
        "tokens_per_second": 1e3 * tokens / median,
        "peak_memory_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "torch": torch.__version__,
        "openblas_core": openblas_core(),
        "environment": {key: value for key, value in sorted(os.environ.items()) if key.startswith(SETTINGS)},
    }


def in_words(result):
    lines = [
        "{config}: {ms_per_step:.2f} ms a step, quartiles {ms_low:.2f} and {ms_high:.2f}, of {steps} steps",
        "{tokens_per_second:,.0f} tokens a second",
        "{peak_memory_bytes:,} bytes at the peak",
        "PyTorch {torch}, threads {threads}, workers {workers}, OpenBLAS core {openblas_core}",
    ]
    settings = [f"  {key}={value}" for key, value in result["environment"].items()]
    return "\n".join([line.format(**result) for line in lines] + settings)


def main():
    given = options()
    torch.set_num_threads(given.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    result = measure(given)
    print(json.dumps(result) if given.json else in_words(result))


if __name__ == "__main__":
    main()
