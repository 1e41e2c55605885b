"""Makes a GPT-2 of the size of GPT-2 small with weights drawn at random, and runs the program on it.

    gpt2_size.py TAPEHEAD

Prints how long each command took and the most memory it had, and fails where that is 2 GB or more.
"""

import array
import json
import os
import random
import resource
import struct
import subprocess
import sys
import tempfile
import time

WIDTH, VOCABULARY, CONTEXT, LAYERS, HEADS = 768, 50257, 1024, 12, 12
MOST_BYTES = 2e9


def shapes():
    yield "wte.weight", (VOCABULARY, WIDTH)
    yield "wpe.weight", (CONTEXT, WIDTH)
    for layer in range(LAYERS):
        for part, sizes in [("ln_1", (WIDTH,)), ("attn.c_attn", (WIDTH, 3 * WIDTH)), ("attn.c_proj", (WIDTH, WIDTH)),
                            ("ln_2", (WIDTH,)), ("mlp.c_fc", (WIDTH, 4 * WIDTH)), ("mlp.c_proj", (4 * WIDTH, WIDTH))]:
            yield f"h.{layer}.{part}.weight", sizes
            yield f"h.{layer}.{part}.bias", sizes[-1:]
    yield "ln_f.weight", (WIDTH,)
    yield "ln_f.bias", (WIDTH,)


def count(shape):
    return shape[0] * (shape[1] if len(shape) == 2 else 1)


def write_model(folder):
    """Weights of deviation 0.02: one block of them again and again, from another place in it for every tensor."""
    drawn = random.Random(1)
    block = array.array("f", (drawn.gauss(0, 0.02) for _ in range(1_000_003))).tobytes()
    header, end = {}, 0
    for name, shape in shapes():
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + 4 * count(shape)]}
        end += 4 * count(shape)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{folder}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes():
            left, start = 4 * count(shape), 4 * drawn.randrange(1_000_000)
            if ".ln_" in f".{name}" and name.endswith("weight"):
                file.write(struct.pack("<f", 1.0) * count(shape))
                continue
            while left > 0:
                piece = block[start:start + left]
                file.write(piece)
                left, start = left - len(piece), 0
    with open(f"{folder}/config.json", "w") as file:
        json.dump({"model_type": "gpt2", "n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH,
                   "vocab_size": VOCABULARY, "n_positions": CONTEXT}, file)


def run(*command):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, (command, done.stdout[-500:])
    # The most of any command until now.
    peak = 1024 * max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    print(f"{command[1]}: {time.monotonic() - start:.1f} s, {peak / 1e9:.2f} GB so far")
    assert peak < MOST_BYTES, f"{command[1]} took {peak} bytes of memory, expected less than {MOST_BYTES:.0f}"


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        write_model(folder)
        run(program, "import", folder, "--out", f"{folder}/run")
        run(program, "heads", f"{folder}/run", "--sequences", "4")
        run(program, "circuits", f"{folder}/run", "--sequences", "4")
        run(program, "attention", f"{folder}/run", "--text", "464 3862 43662 6051 464 3862 43662", "--head", "5.1")
        run(program, "generate", f"{folder}/run", "--prompt", "464 3862", "--tokens", "10")


main()
