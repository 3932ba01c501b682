"""Times llama.cpp on a GGUF file: greedy continuations of random prompts, as one JSON object.

    llama_cpp_decoding.py '{"file": "model.gguf", "prompts": 32, "prompt_length": 128, "new": 128, "runs": 2, "threads": 2}'

Needs the package llama-cpp-python. All prompts are sequences of one batch, as llama.cpp's own batched benchmark does; the
likeliest token is taken with numpy.
"""

import ctypes
import json
import sys
import time

import llama_cpp
import numpy as np


class Sequences:
    """Prompts that are read and continued together."""

    def __init__(self, job):
        self.job = job
        llama_cpp.llama_backend_init()
        options = llama_cpp.llama_model_default_params()
        self.model = llama_cpp.llama_model_load_from_file(job["file"].encode(), options)
        if not self.model:
            sys.exit(f"llama_cpp_decoding.py: {job['file']}: llama.cpp cannot load it")
        context = llama_cpp.llama_context_default_params()
        context.n_ctx = job["prompts"] * (job["prompt_length"] + job["new"])
        context.n_batch = 2048
        context.n_seq_max = job["prompts"]
        context.n_threads = context.n_threads_batch = job["threads"]
        self.context = llama_cpp.llama_init_from_model(self.model, context)
        vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.vocabulary_size = llama_cpp.llama_vocab_n_tokens(vocabulary)
        self.batch = llama_cpp.llama_batch_init(context.n_batch, 0, 1)

    def decode(self, rows):
        """rows: (token, position, sequence, whether its logits are wanted). The likeliest next token of each wanted row."""
        batch = self.batch
        batch.n_tokens = len(rows)
        for i, (token, position, sequence, wanted) in enumerate(rows):
            batch.token[i], batch.pos[i], batch.n_seq_id[i] = token, position, 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = wanted
        status = llama_cpp.llama_decode(self.context, batch)
        if status != 0:
            sys.exit(f"llama_cpp_decoding.py: llama_decode: status {status}")
        wanted = [i for i, row in enumerate(rows) if row[3]]
        return [int(np.argmax(self.logits(i))) for i in wanted]

    def logits(self, row):
        numbers = llama_cpp.llama_get_logits_ith(self.context, row)
        address = ctypes.cast(numbers, ctypes.POINTER(ctypes.c_float))
        return np.ctypeslib.as_array(address, shape=(self.vocabulary_size,))

    def read_prompts(self, prompts):
        """Fills batches of at most n_batch tokens with whole prompts; the first new token of each."""
        tokens, rows = [], []
        for sequence, prompt in enumerate(prompts):
            if len(rows) + len(prompt) > 2048:
                tokens += self.decode(rows)
                rows = []
            rows += [(token, at, sequence, at + 1 == len(prompt)) for at, token in enumerate(prompt)]
        return tokens + self.decode(rows)

    def run(self, prompts):
        """Seconds of reading the prompts, seconds of all."""
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        begin = time.perf_counter()
        tokens = self.read_prompts(prompts)
        read = time.perf_counter() - begin
        for step in range(self.job["new"] - 1):
            position = self.job["prompt_length"] + step
            tokens = self.decode([(token, position, sequence, True) for sequence, token in enumerate(tokens)])
        return read, time.perf_counter() - begin


def main():
    job = json.loads(sys.argv[1])
    sequences = Sequences(job)
    random = np.random.default_rng(1)
    prompts = random.integers(sequences.vocabulary_size, size=(job["prompts"], job["prompt_length"])).tolist()
    sequences.run(prompts)  # warm-up
    runs = [sequences.run(prompts) for _ in range(job["runs"])]
    print(json.dumps({"prompt_seconds": [run[0] for run in runs], "run_seconds": [run[1] for run in runs]}))


if __name__ == "__main__":
    main()
