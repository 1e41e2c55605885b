#!/usr/bin/env python3
"""Times attention forward and backward in PyTorch, on one thread, as tiled_attention.cpp does ours.

    attention_torch.py own|plain|blocks LENGTH SECONDS

prints LENGTH, milliseconds forward, backward (CPU time, medians), and by how many bytes the process grew. `own` is
PyTorch 1.13's scaled_dot_product_attention, `plain` a softmax between two products, `blocks` the fastest we know to write:
see ../speed/train_torch.py. One sequence, 4 heads of 64, causal.
"""

import resource
import statistics
import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "speed"))
sys.dont_write_bytecode = True
from train_torch import CausalAttention, causal_mask, plain_attention  # noqa: E402

HEADS, HEAD_WIDTH = 4, 64


def own_attention(q, k, v, mask):
    return torch.nn.functional._scaled_dot_product_attention(q, k, v, mask, 0.0, False, False)[0]


def largest_resident():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main():
    kind, length, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
    attend = {"own": own_attention, "plain": plain_attention, "blocks": CausalAttention.apply}[kind]
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    q, k, v = (torch.randn(HEADS, length, HEAD_WIDTH, requires_grad=True) for _ in range(3))
    upstream = torch.randn(HEADS, length, HEAD_WIDTH)
    mask = causal_mask(length)

    def once():
        start = time.thread_time()
        output = attend(q, k, v, mask)
        middle = time.thread_time()
        torch.autograd.grad(output, (q, k, v), upstream)
        return 1e3 * (middle - start), 1e3 * (time.thread_time() - middle)

    resident = largest_resident()
    once()
    grown = largest_resident() - resident
    times, start = [], time.thread_time()
    while not times or time.thread_time() - start < seconds:
        times.append(once())
    forward, backward = (statistics.median(column) for column in zip(*times))
    print(length, f"{forward:.3f} {backward:.3f}", grown)


if __name__ == "__main__":
    main()
