"""Opens a .npz with NumPy and writes its arrays as safetensors: npz_to_safetensors.py IN OUT.

Exit status 77 means that NumPy is not installed.
"""

import json
import pathlib
import struct
import sys

try:
    import numpy
except ImportError as error:
    print(error)
    sys.exit(77)

arrays = numpy.load(sys.argv[1], allow_pickle=False)
header, payload = {}, b""
for name in arrays.files:
    array = arrays[name]
    assert array.flags["C_CONTIGUOUS"] and array.dtype.str in ("<f4", "<f8"), (name, array.dtype.str)
    header[name] = {
        "dtype": {"<f4": "F32", "<f8": "F64"}[array.dtype.str],
        "shape": list(array.shape),
        "data_offsets": [len(payload), len(payload) + array.nbytes],
    }
    payload += array.tobytes()
text = json.dumps(header).encode()
pathlib.Path(sys.argv[2]).write_bytes(struct.pack("<Q", len(text)) + text + payload)
