import numpy
import pytest

import dragoman
from dragoman import Tape, Tensor, nn, ops, tensor
from dragoman.errors import UsageError

RANDOM = numpy.random.default_rng(1)


def normal(*shape: int, dtype: str = "float32") -> numpy.ndarray:
    return RANDOM.normal(size=shape).astype(dtype)


def test_views_without_copies():
    array = normal(3, 4)
    seen = tensor(array)
    array[0, 0] = 7
    assert seen.numpy()[0, 0] == 7
    seen.numpy()[1, 1] = 8
    assert array[1, 1] == 8 and numpy.shares_memory(array, seen.numpy())
    assert numpy.shares_memory(array, numpy.from_dlpack(seen)) and numpy.shares_memory(array, numpy.asarray(seen))
    assert seen.shape == (3, 4) and seen.dtype == "float32" and len(seen) == 3


def test_memory_outlives_both_sides():
    array = normal(1000)
    total = array.sum()
    seen = tensor(array)
    del array
    assert seen.numpy().sum() == total
    view = tensor(normal(1000)).numpy()
    normal(1000)
    assert numpy.isfinite(view).all()


def test_other_data_are_converted():
    assert tensor([[1, 2], [3, 4]]).dtype == "int32"
    assert tensor([1.5, 2]).dtype == tensor(3.0).dtype == "float32"
    assert tensor(numpy.arange(3)).dtype == "int32" and tensor(numpy.float16([1])).dtype == "float32"
    assert tensor(normal(3, 4).T).numpy().shape == (4, 3)
    frozen = normal(3)
    frozen.flags.writeable = False
    assert not numpy.shares_memory(tensor(frozen).numpy(), frozen)
    with pytest.raises(OverflowError):
        tensor([2**40])
    with pytest.raises(ValueError, match="at most 4"):
        tensor(numpy.zeros((1,) * 5, "float32"))
    with pytest.raises(ValueError, match="float32, float64, int32 or bool"):
        Tensor.view(numpy.zeros(3, "int64"))


def test_torch_shares_memory():
    torch = pytest.importorskip("torch")
    theirs = torch.zeros(2, 3)
    ours = tensor(theirs)
    ours.numpy()[0, 0] = 5
    assert theirs[0, 0] == 5
    assert torch.from_dlpack(ours).data_ptr() == theirs.data_ptr()


def test_ops_are_those_of_numpy():
    a, b = normal(3, 4), normal(4, 5)
    numpy.testing.assert_allclose((tensor(a) @ tensor(b)).numpy(), a @ b, atol=1e-5)
    numpy.testing.assert_allclose((tensor(a) + tensor(a) * 2 - tensor(a) / 2).numpy(), a * 2.5, atol=1e-6)
    exps = numpy.exp(a - a.max(axis=1, keepdims=True))
    numpy.testing.assert_allclose(ops.softmax(tensor(a)).numpy(), exps / exps.sum(axis=1, keepdims=True), atol=1e-6)
    assert ops.softmax(tensor(normal(2, 3, 4))).shape == (2, 3, 4)
    with pytest.raises(dragoman.Error, match="matmul: b is"):
        tensor(a) @ tensor(a)


def test_nothing_is_recorded_outside_a_tape():
    x = tensor(normal(3), requires_grad=True)
    assert not ops.sum(x).requires_grad
    with Tape() as tape:
        y = ops.sum(x * x)
        assert y.requires_grad and len(tape) == 2
    tape.backward(y)
    numpy.testing.assert_allclose(x.grad.numpy(), 2 * x.numpy(), rtol=1e-6)
    x.clear_grad()
    assert x.grad is None


def test_tapes_nest_and_say_what_is_wrong():
    tape = Tape()
    with tape:
        with pytest.raises(UsageError, match="entered already"):
            tape.__enter__()
    with pytest.raises(UsageError, match="must be one number"):
        tape.backward(tensor(normal(3)))


@pytest.mark.parametrize("function", [
    lambda x: ops.sum(ops.softmax(x) * tensor(numpy.arange(12.0).reshape(3, 4))),
    lambda x: ops.cross_entropy(x, tensor([0, 1, 2])),
    lambda x: ops.mean(ops.gelu(x)),
    lambda x: ops.sum(ops.square(ops.layer_norm(x, tensor(numpy.arange(1.0, 5)), None))),
    lambda x: ops.sum(ops.square(x.reshape([4, 3]) @ x)),
])
def test_gradients_are_those_of_finite_differences(function):
    point = normal(3, 4, dtype="float64")
    x = tensor(point, requires_grad=True)
    with Tape() as tape:
        loss = function(x)
    tape.backward(loss)
    for index in numpy.ndindex(point.shape):
        kept, step = point[index], 1e-6
        values = []
        for moved in kept + step, kept - step:
            point[index] = moved
            values.append(function(tensor(point)).item())
        point[index] = kept
        assert x.grad.numpy()[index] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-5)


def test_the_attention_of_the_notes():
    query, key = normal(64, 12, 300), normal(64, 10, 300)
    attention = nn.MultiheadAttention(hid_dim=300, n_heads=6, dropout=0.1).eval()
    output = attention(query, key, key)
    assert output.shape == (64, 12, 300)
    weights = attention.weights(query, key).numpy()
    assert weights.shape == (64, 6, 12, 10)
    numpy.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)
    mask = numpy.ones((64, 10), bool)
    mask[:, 7:] = False
    shorter = attention(query, key[:, :7].copy(), key[:, :7].copy())
    numpy.testing.assert_allclose(attention(query, key, key, mask).numpy(), shorter.numpy(), atol=1e-5)
    attention.train()
    assert not numpy.allclose(attention(query, key, key).numpy(), output.numpy())


def test_attention_equals_pytorch_with_gradients():
    torch = pytest.importorskip("torch")
    ours = nn.MultiheadAttention(hid_dim=300, n_heads=6)
    theirs = torch.nn.MultiheadAttention(300, 6, batch_first=True)
    parameters = ours.named_parameters()
    kinds = ["query", "key", "value"]
    with torch.no_grad():
        for kind, weight, bias in zip(kinds, theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3)):
            parameters[f"{kind}.weight"].numpy()[:] = weight.T.numpy()
            parameters[f"{kind}.bias"].numpy()[:] = RANDOM.normal(size=300)
            bias.copy_(torch.from_numpy(parameters[f"{kind}.bias"].numpy()))
        parameters["output.weight"].numpy()[:] = theirs.out_proj.weight.T.numpy()
    query, key, value = normal(64, 12, 300), normal(64, 10, 300), normal(64, 10, 300)
    wanted, _ = theirs(torch.from_numpy(query), torch.from_numpy(key), torch.from_numpy(value))
    wanted.square().mean().backward()
    with Tape() as tape:
        found = ours(query, key, value)
        loss = ops.mean(ops.square(found))
    tape.backward(loss)
    numpy.testing.assert_allclose(found.numpy(), wanted.detach().numpy(), atol=1e-5)
    for kind, gradient in zip(kinds, theirs.in_proj_weight.grad.chunk(3)):
        numpy.testing.assert_allclose(parameters[f"{kind}.weight"].grad.numpy(), gradient.T.numpy(), atol=1e-5)
    numpy.testing.assert_allclose(
        parameters["output.weight"].grad.numpy(), theirs.out_proj.weight.grad.T.numpy(), atol=1e-5)


def test_a_training_loop():
    model = nn.Sequential(nn.Embedding(16, 32), nn.LayerNorm(32), nn.FeedForward(32, 64, dropout=0.1), nn.Linear(32, 16))
    optimizer = nn.Adam(model.parameters(), learning_rate=0.01, clip_norm=1.0)
    inputs = RANDOM.integers(0, 16, size=(8, 10), dtype="int32")
    losses = []
    for _ in range(60):
        with Tape() as tape:
            loss = ops.cross_entropy(model(inputs), tensor((inputs + 1) % 16), label_smoothing=0.0)
        tape.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 < losses[0]


def test_modules_know_their_parameters():
    class Block(nn.Module):
        def __init__(self):
            self.attention = nn.MultiheadAttention(8, 2)
            self.maps = [nn.Linear(8, 8), nn.Linear(8, 8, bias=False)]
            self.gain = tensor(numpy.ones(8, "float32"), requires_grad=True)

        def forward(self, x):
            return self.maps[1](self.maps[0](self.attention(x, x, x, causal=True)))

    block = Block()
    names = set(block.named_parameters())
    assert {"attention.query.weight", "maps.0.bias", "maps.1.weight", "gain"} <= names and "maps.1.bias" not in names
    x = normal(2, 5, 8)
    later = x.copy()
    later[:, 3:] = 0
    numpy.testing.assert_array_equal(block(x).numpy()[:, :3], block(later).numpy()[:, :3])
    block.eval()
    assert not block.maps[0].training
