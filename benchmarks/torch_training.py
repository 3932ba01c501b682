"""Trains a Transformer, or a recurrent or convolutional model, with PyTorch and prints, as one line of JSON, seconds and target tokens of each update.

    python torch_training.py '{"shape": {...}, "sentences": 32, "source_length": 30, ...}'

compare_training.py calls it. Sentences are random and equally long, or those of a text: then cut by its SentencePiece
model, sorted by length, padded to the longest of their batch. With more than one process each has one thread on its own core and a part of the batch;
weights and gradients lie in shared memory, and each process sums the gradients of, and applies Adam to, its own part
of the weights. That is less work than torch.distributed does for two processes on one machine.

With "device": "cuda" one process trains on a GPU, with Adam in one kernel. "compile" is then "" for eager kernels,
"layers" to compile each layer and the loss, or "model" to compile all as one. torch_cuda_training.py calls it so.
"""

import json
import os
import random
import resource
import sys
import time

import torch
import torch.multiprocessing
from torch.nn import functional

from torch_convolutional import Convolutional
from torch_recurrent import Recurrent
from torch_transformer import Transformer

CLIP_NORM = 1.0
ADAM = {"lr": 1e-4, "betas": (0.9, 0.98), "eps": 1e-9, "fused": True}


IGNORED = -100  # label of padding


def model_of(job):
    shape = job["shape"]
    kind = Recurrent if "cell" in shape else Convolutional if "kernel_width" in shape else Transformer
    return kind(shape)


def random_batches(job, rank):
    """Four batches of random ids, used in turn, and the target tokens of all processes in each update."""
    generator = torch.Generator().manual_seed(1 + rank)
    sentences = job["sentences"] // job["processes"]

    def ids(length):
        return torch.randint(4, job["shape"]["vocab_size"], (sentences, length), generator=generator)

    batches = []
    for _ in range(4):
        target = ids(job["target_length"] + 1)
        batches.append((ids(job["source_length"]), target[:, :-1].contiguous(), target[:, 1:].contiguous(), None))
    return batches, [sentences * job["processes"] * job["target_length"]] * len(batches)


def padded(rows, value):
    return torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)


def padded_batch(pairs, begin_id, pad_id):
    source = padded([s for s, _ in pairs], pad_id)
    lengths = torch.tensor([len(s) for s, _ in pairs])
    mask = None
    if int(lengths.min()) < source.shape[1]:
        mask = (torch.arange(source.shape[1]) < lengths[:, None])[:, None, None, :]
    target_input = padded([[begin_id] + t[:-1] for _, t in pairs], pad_id)
    return source, target_input, padded([t for _, t in pairs], IGNORED), mask


def text_batches(job, rank):
    """The batches of a text that this process trains with, in random order, and the target tokens of all processes.

    An update takes about batch_tokens, padding included. Batches of about one length are dealt to all processes for the
    same update, so that none waits for another.
    """
    import sentencepiece  # needed for texts alone

    text, processes = job["text"], job["processes"]
    pieces = sentencepiece.SentencePieceProcessor(model_file=text["vocabulary"])
    begin_id, end_id, pad_id = 1, 2, 0  # any ids do for the speed

    def encoded(path):
        with open(path, encoding="utf-8", newline="\n") as lines:
            return [ids + [end_id] for ids in pieces.encode([line.rstrip("\n") for line in lines])]

    pairs = sorted(zip(encoded(text["source"]), encoded(text["target"])), key=lambda pair: tuple(map(len, pair)))
    budget = job["batch_tokens"] // processes
    batches, begin = [], 0
    for end in range(1, len(pairs) + 1):
        longest = max(len(side) for pair in pairs[begin : end + 1] for side in pair)
        if end == len(pairs) or longest * (end + 1 - begin) > budget:
            batches.append(pairs[begin:end])
            begin = end
    groups = [batches[i : i + processes] for i in range(0, len(batches) - processes + 1, processes)]
    random.Random(1).shuffle(groups)
    tokens = [sum(len(target) for batch in group for _, target in batch) for group in groups]
    return [padded_batch(group[rank], begin_id, pad_id) for group in groups], tokens


def batches_of(job, rank):
    return text_batches(job, rank) if "text" in job else random_batches(job, rank)


def backward_of_loss(model, batch, job, update_tokens):
    source, target_input, target_output, mask = batch
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=job["precision"] == "bf16"):
        logits = model(source, target_input, mask)
    (summed_loss(logits, target_output) / update_tokens).backward()


def summed_loss(logits, target_output):
    # float32 under autocast too, as PyTorch does by itself for this loss
    return functional.cross_entropy(
        logits.flatten(0, 1),
        target_output.flatten(),
        label_smoothing=0.1,
        reduction="sum",
        ignore_index=IGNORED,
    )


def timed_updates(job, update):
    seconds = []
    for step in range(job["warmup"] + job["steps"]):
        begin = time.perf_counter()
        update(step)
        seconds.append(time.perf_counter() - begin)
    return seconds[job["warmup"] :]


def train_alone(job):
    torch.set_num_threads(job["threads"])
    model = model_of(job)
    optimizer = torch.optim.Adam(model.parameters(), **ADAM)
    batches, tokens = batches_of(job, 0)

    def update(step):
        optimizer.zero_grad(set_to_none=True)
        turn = step % len(batches)
        backward_of_loss(model, batches[turn], job, tokens[turn])
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
        optimizer.step()

    return timed_updates(job, update), measured_tokens(job, tokens)


def compiled_loss(model, how):
    """A function of a batch that returns the summed loss."""

    def output_loss(x, weight, target_output):
        return summed_loss(functional.linear(x, weight), target_output)

    if how == "layers":
        for layers in (model.encoder, model.decoder):
            for layer in layers:
                layer.compile(dynamic=False)
        output_loss = torch.compile(output_loss, dynamic=False)

    def loss_of(source, target_input, target_output, mask):
        return output_loss(model.decode(source, target_input, mask), model.embedding.weight, target_output)

    return torch.compile(loss_of, dynamic=False) if how == "model" else loss_of


def train_on_gpu(job):
    device = torch.device(job["device"])
    torch.set_float32_matmul_precision("high")
    model = Transformer(job["shape"]).to(device)
    optimizer = torch.optim.Adam(model.parameters(), **ADAM)
    batches, tokens = batches_of(job, 0)
    batches = [[part if part is None else part.to(device) for part in batch] for batch in batches]
    loss_of = compiled_loss(model, job["compile"])

    def update(step):
        optimizer.zero_grad(set_to_none=True)
        turn = step % len(batches)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=job["precision"] == "bf16"):
            loss = loss_of(*batches[turn])
        (loss / tokens[turn]).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM, foreach=True)
        optimizer.step()
        loss.item()
        if device.type == "cuda":
            torch.cuda.synchronize()

    return timed_updates(job, update), measured_tokens(job, tokens)


def measured_tokens(job, tokens):
    return [tokens[step % len(tokens)] for step in range(job["warmup"], job["warmup"] + job["steps"])]


def owned_parameters(model, rank, processes):
    """Indices of the parameters that a process updates: about as many numbers in each process."""
    loads, owner = [0] * processes, {}
    sizes = [p.numel() for p in model.parameters()]
    for index in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        lightest = loads.index(min(loads))
        owner[index] = lightest
        loads[lightest] += sizes[index]
    return [index for index in sorted(owner) if owner[index] == rank]


def train_part(rank, job, model, gradients, norms, barrier, results):
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[rank % len(cores)]})
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    processes = job["processes"]
    parameters = list(model.parameters())
    for parameter, gradient in zip(parameters, gradients[rank]):
        parameter.grad = gradient
    owned = owned_parameters(model, rank, processes)
    optimizer = torch.optim.Adam([parameters[i] for i in owned], **ADAM)
    batches, tokens = batches_of(job, rank)

    def update(step):
        torch._foreach_zero_(gradients[rank])
        turn = step % len(batches)
        backward_of_loss(model, batches[turn], job, tokens[turn])
        barrier.wait()
        mine = [gradients[rank][i] for i in owned]
        for other in range(processes):
            if other != rank:
                torch._foreach_add_(mine, [gradients[other][i] for i in owned])
        norms[rank] = torch.stack(torch._foreach_norm(mine)).norm()
        barrier.wait()
        torch._foreach_mul_(mine, min(1.0, CLIP_NORM / float(norms.norm())))
        optimizer.step()
        barrier.wait()

    seconds = timed_updates(job, update)
    if rank == 0:
        results.put((seconds, measured_tokens(job, tokens)))


def train_in_processes(job):
    context = torch.multiprocessing.get_context("spawn")
    processes = job["processes"]
    model = model_of(job).share_memory()
    gradients = [[torch.zeros_like(p).share_memory_() for p in model.parameters()] for _ in range(processes)]
    norms = torch.zeros(processes).share_memory_()
    results = context.SimpleQueue()
    torch.multiprocessing.spawn(
        train_part, (job, model, gradients, norms, context.Barrier(processes), results), nprocs=processes
    )
    return results.get()


def main():
    job = json.loads(sys.argv[1])
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    seconds, tokens = train_alone(job) if job["processes"] == 1 else train_in_processes(job)
    who = resource.RUSAGE_SELF if job["processes"] == 1 else resource.RUSAGE_CHILDREN
    print(
        json.dumps(
            {
                "step_seconds": seconds,
                "step_tokens": tokens,
                "peak_mib": resource.getrusage(who).ru_maxrss // 1024,  # of one process
                "torch": torch.__version__,
                "capability": torch.backends.cpu.get_cpu_capability(),
            }
        )
    )


if __name__ == "__main__":
    main()
