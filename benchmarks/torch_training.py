"""Trains a Transformer with PyTorch on random sentences and prints, as one line of JSON, the seconds of each update.

    python torch_training.py '{"shape": {...}, "sentences": 32, "source_length": 30, ...}'

compare_training.py calls it. With more than one process each has one thread on its own core and a part of the batch;
weights and gradients lie in shared memory, and each process sums the gradients of, and applies Adam to, its own part
of the weights. That is less work than torch.distributed does for two processes on one machine.
"""

import json
import os
import resource
import sys
import time

import torch
import torch.multiprocessing
from torch.nn import functional

from torch_transformer import Transformer

CLIP_NORM = 1.0
ADAM = {"lr": 1e-4, "betas": (0.9, 0.98), "eps": 1e-9, "fused": True}


def random_batches(job, sentences, seed):
    """Four batches of random ids, used in turn."""
    generator = torch.Generator().manual_seed(seed)

    def ids(length):
        return torch.randint(4, job["shape"]["vocab_size"], (sentences, length), generator=generator)

    batches = []
    for _ in range(4):
        target = ids(job["target_length"] + 1)
        batches.append((ids(job["source_length"]), target[:, :-1].contiguous(), target[:, 1:].contiguous()))
    return batches


def backward_of_loss(model, batch, job, update_tokens):
    source, target_input, target_output = batch
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=job["precision"] == "bf16"):
        logits = model(source, target_input)
    # float32 under autocast too, as PyTorch does by itself for this loss
    loss = functional.cross_entropy(
        logits.flatten(0, 1), target_output.flatten(), label_smoothing=0.1, reduction="sum"
    )
    (loss / update_tokens).backward()


def timed_updates(job, update):
    seconds = []
    for step in range(job["warmup"] + job["steps"]):
        begin = time.perf_counter()
        update(step)
        seconds.append(time.perf_counter() - begin)
    return seconds[job["warmup"] :]


def train_alone(job):
    torch.set_num_threads(job["threads"])
    model = Transformer(job["shape"])
    optimizer = torch.optim.Adam(model.parameters(), **ADAM)
    batches = random_batches(job, job["sentences"], 1)
    update_tokens = job["sentences"] * job["target_length"]

    def update(step):
        optimizer.zero_grad(set_to_none=True)
        backward_of_loss(model, batches[step % 4], job, update_tokens)
        torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP_NORM)
        optimizer.step()

    return timed_updates(job, update)


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
    batches = random_batches(job, job["sentences"] // processes, 1 + rank)
    update_tokens = job["sentences"] // processes * processes * job["target_length"]

    def update(step):
        torch._foreach_zero_(gradients[rank])
        backward_of_loss(model, batches[step % 4], job, update_tokens)
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
        results.put(seconds)


def train_in_processes(job):
    context = torch.multiprocessing.get_context("spawn")
    processes = job["processes"]
    model = Transformer(job["shape"]).share_memory()
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
    seconds = train_alone(job) if job["processes"] == 1 else train_in_processes(job)
    who = resource.RUSAGE_SELF if job["processes"] == 1 else resource.RUSAGE_CHILDREN
    print(
        json.dumps(
            {
                "step_seconds": seconds,
                "target_tokens": job["sentences"] // job["processes"] * job["processes"] * job["target_length"],
                "peak_mib": resource.getrusage(who).ru_maxrss // 1024,  # of one process
                "torch": torch.__version__,
                "capability": torch.backends.cpu.get_cpu_capability(),
            }
        )
    )


if __name__ == "__main__":
    main()
