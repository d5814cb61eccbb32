"""Kernels whose lanes walk a tensor against its grain, each with the launch that ``verify`` captures."""

import sys

import torch
import triton
import triton.language as tl

DEVICE = "cuda"


@triton.jit
def column_sum(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_rows, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + rows * n_cols + column, mask=rows < n_rows, other=0.0)
    tl.store(out_ptr + column, tl.sum(total, 0))


def launch_column_sum():
    x = torch.randn(96, 40, device=DEVICE)
    out = torch.empty(40, device=DEVICE)
    column_sum[(40,)](x, out, 96, 40, BLOCK=64)
    torch.testing.assert_close(out, x.sum(0))


@triton.jit
def channel_scale(x_ptr, scale_ptr, pixels, channels, BLOCK: tl.constexpr):
    image = tl.program_id(0)
    pixel = tl.program_id(1)
    channel = tl.arange(0, BLOCK)
    offsets = image * channels * pixels + channel * pixels + pixel
    inside = channel < channels
    x = tl.load(x_ptr + offsets, mask=inside)
    tl.store(x_ptr + offsets, x * tl.load(scale_ptr + channel, mask=inside), mask=inside)


def launch_channel_scale():
    x = torch.randn(2, 32, 3, 5, device=DEVICE)
    scale = torch.randn(32, device=DEVICE)
    wanted = x * scale[None, :, None, None]
    channel_scale[(2, 15)](x, scale, 15, 32, BLOCK=32)
    torch.testing.assert_close(x, wanted)


@triton.jit
def channel_mix(x_ptr, y_ptr, z_ptr, pixels, channels, BLOCK: tl.constexpr):
    """Several tensors in the same layout, one of them written in place."""
    image = tl.program_id(0)
    pixel = tl.program_id(1)
    channel = tl.arange(0, BLOCK)
    offsets = (image * channels + channel) * pixels + pixel
    inside = channel < channels
    x = tl.load(x_ptr + offsets, mask=inside)
    y = tl.load(y_ptr + offsets, mask=inside)
    tl.store(x_ptr + offsets, x + y, mask=inside)
    tl.store(z_ptr + offsets, x - y, mask=inside)


def launch_channel_mix():
    x, y = torch.randn(2, 32, 4, 4, device=DEVICE), torch.randn(2, 32, 4, 4, device=DEVICE)
    z = torch.empty_like(x)
    channel_mix[(2, 16)](x, y, z, 16, 32, BLOCK=32)


@triton.jit
def softmax_rows(out_ptr, in_ptr, in_row, in_col, out_row, out_col, n_rows, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    pointers = in_ptr + rows * in_row + column * in_col
    x = tl.load(pointers, mask=rows < n_rows, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + rows * out_row + column * out_col, e / tl.sum(e, axis=0), mask=rows < n_rows)


def launch_softmax_rows():
    x = torch.randn(56, 24, device=DEVICE)
    out = torch.empty_like(x)
    softmax_rows[(24,)](out, x, *x.stride(), *out.stride(), 56, BLOCK=64)
    torch.testing.assert_close(out, x.softmax(0))


@triton.jit
def paged_keys(table_ptr, k_ptr, q_ptr, out_ptr, s_block, s_dim, PAGE: tl.constexpr, DIM: tl.constexpr):
    """Head-dim-major pages: [block, dim, token]; the block comes from a table."""
    sequence = tl.program_id(0)
    dims = tl.arange(0, DIM)
    q = tl.load(q_ptr + sequence * DIM + dims)
    for page in range(4):
        block = tl.load(table_ptr + sequence * 4 + page)
        for token in range(PAGE):
            k = tl.load(k_ptr + block * s_block + dims * s_dim + token)
            tl.store(out_ptr + (sequence * 4 + page) * PAGE + token, tl.sum(q * k))


def launch_paged_keys():
    table = torch.tensor([[3, 0, 5, 1], [2, 4, 3, 0]], dtype=torch.int32, device=DEVICE)
    keys = torch.randn(6, 64, 16, device=DEVICE)
    q = torch.randn(2, 64, device=DEVICE)
    out = torch.empty(2, 64, device=DEVICE)
    paged_keys[(2,)](table, keys, q, out, keys.stride(0), keys.stride(1), PAGE=16, DIM=64)


#: An object that cannot be carried to another process; its attributes can.
LIMITS = torch.finfo(torch.float32)


@triton.jit
def transposed_store(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr, LOWEST: tl.constexpr = LIMITS.min):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + columns, mask=columns < n_cols)
    tl.store(out_ptr + columns * n_rows + row, tl.maximum(x, LOWEST), mask=columns < n_cols)


def launch_transposed_store():
    x = torch.randn(32, 48, device=DEVICE)
    out = torch.empty(48, 32, device=DEVICE)
    transposed_store[(32,)](x, out, 32, 48, BLOCK=64)
    torch.testing.assert_close(out, x.T.contiguous())


@triton.jit
def pointer_walk(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    p = x_ptr + rows * stride
    total = tl.zeros([BLOCK], tl.float32)
    for _ in range(n):
        total += tl.load(p)
        p += 1
    tl.store(out_ptr + rows, total)


def launch_pointer_walk():
    x = torch.randn(128, 24, device=DEVICE)
    out = torch.empty(128, device=DEVICE)
    pointer_walk[(2,)](x, out, 24, 24, BLOCK=64)
    torch.testing.assert_close(out, x.sum(1))


@triton.jit
def plus_transposed(x_ptr, out_ptr, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    row = tl.program_id(1)
    a = tl.load(x_ptr + row * n + i)
    b = tl.load(x_ptr + i * n + row)
    tl.store(out_ptr + row * n + i, a + b)


def launch_plus_transposed():
    x = torch.randn(64, 64, device=DEVICE)
    out = torch.empty(64, 64, device=DEVICE)
    plus_transposed[(2, 64)](x, out, 64, B=32)
    torch.testing.assert_close(out, x + x.T)


@triton.jit
def flat_index(x_ptr, out_ptr, channels, pixels, BLOCK: tl.constexpr):
    """The output is walked flat as [channel, pixel]; the input lies as [pixel, channel]."""
    flat = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channel = flat // pixels
    pixel = flat % pixels
    inside = flat < channels * pixels
    x = tl.load(x_ptr + pixel * channels + channel, mask=inside)
    tl.store(out_ptr + flat, x, mask=inside)


def launch_flat_index():
    x = torch.randn(64, 24, device=DEVICE)
    out = torch.empty(24, 64, device=DEVICE)
    flat_index[(12,)](x, out, 24, 64, BLOCK=128)
    torch.testing.assert_close(out, x.T.contiguous())


@triton.jit
def two_strides(x_ptr, out_ptr, n_rows, n_cols, stride_row, stride_col, BLOCK: tl.constexpr):
    """Both strides above one: every second column of a wider matrix, rows in one loop, columns in another."""
    rows = tl.arange(0, BLOCK)
    for column in range(n_cols):
        total = tl.zeros([BLOCK], tl.float32)
        for start in range(0, n_rows, BLOCK):
            total += tl.load(x_ptr + (start + rows) * stride_row + column * stride_col)
        tl.store(out_ptr + column * BLOCK + rows, total)


def launch_two_strides():
    x = torch.randn(128, 32, device=DEVICE)[:, ::2]
    out = torch.empty(16, 64, device=DEVICE)
    two_strides[(1,)](x, out, 128, 16, *x.stride(), BLOCK=64)


@triton.jit
def load_column(p, rows, stride, column, n):
    return tl.load(p + rows * stride + column, mask=rows < n, other=0.0)


@triton.jit
def through_helper(x_ptr, y_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    a = load_column(x_ptr, rows, n_cols, column, n_rows)
    b = load_column(y_ptr, rows, n_cols, column, n_rows)
    tl.store(out_ptr + column * BLOCK + rows, a * b)


def launch_through_helper():
    x, y = torch.randn(48, 40, device=DEVICE), torch.randn(48, 40, device=DEVICE)
    out = torch.empty(40, 64, device=DEVICE)
    through_helper[(40,)](x, y, out, 48, 40, BLOCK=64)


@triton.jit
def key_and_value_offsets(table_ptr, token, dims, s_block, s_dim, PAGE: tl.constexpr):
    block = tl.load(table_ptr + token // PAGE).to(tl.int64)
    inner = token % PAGE
    keys = block * s_block + (dims // 8) * (s_dim * 8) + (dims % 8) * s_dim + inner
    values = block * s_block + inner * 64 + dims
    return keys, values


@triton.jit
def offsets_of_helper(
    table_ptr, k_ptr, v_ptr, out_ptr, s_block, s_dim, PAGE: tl.constexpr, DIM: tl.constexpr
):
    """Offsets that a helper makes, from a page that it looks up, and returns as a tuple."""
    dims = tl.arange(0, DIM)
    for token in range(4 * PAGE):
        keys, values = key_and_value_offsets(table_ptr, token, dims, s_block, s_dim, PAGE)
        tl.store(out_ptr + token * DIM + dims, tl.load(k_ptr + keys) * tl.load(v_ptr + values))


def launch_offsets_of_helper():
    table = torch.tensor([3, 0, 5, 1], dtype=torch.int32, device=DEVICE)
    keys, values = torch.randn(6, 64, 16, device=DEVICE), torch.randn(6, 16, 64, device=DEVICE)
    out = torch.empty(64, 64, device=DEVICE)
    offsets_of_helper[(1,)](table, keys, values, out, keys.stride(0), keys.stride(1), PAGE=16, DIM=64)
    wanted = keys[table.long()].transpose(1, 2) * values[table.long()]
    torch.testing.assert_close(out, wanted.reshape(64, 64))


@triton.jit
def block_pointer(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    p = tl.make_block_ptr(x_ptr, (n_rows, n_cols), (n_cols, 1), (0, column), (BLOCK, 1), (1, 0))
    total = tl.zeros([BLOCK, 1], tl.float32)
    for _ in range(0, n_rows, BLOCK):
        total += tl.load(p, boundary_check=(0, 1))
        p = tl.advance(p, (BLOCK, 0))
    tl.store(out_ptr + column, tl.sum(total))


def launch_block_pointer():
    x = torch.randn(128, 24, device=DEVICE)
    out = torch.empty(24, device=DEVICE)
    block_pointer[(24,)](x, out, 128, 24, BLOCK=64)
    torch.testing.assert_close(out, x.sum(0))


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 32})], key=["n_rows"])
@triton.heuristics({"EVEN": lambda args: args["n_rows"] % args["BLOCK"] == 0})
@triton.jit
def tuned(x_ptr, out_ptr, n_rows, n_cols, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_rows, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        if EVEN:
            total += tl.load(x_ptr + rows * n_cols + column)
        else:
            total += tl.load(x_ptr + rows * n_cols + column, mask=rows < n_rows, other=0.0)
    tl.store(out_ptr + column, tl.sum(total, 0))


def launch_tuned():
    x = torch.randn(128, 40, device=DEVICE)
    out = torch.empty(40, device=DEVICE)
    tuned[lambda meta: (40,)](x, out, 128, 40)
    torch.testing.assert_close(out, x.sum(0))


def zeroed(args):
    args["out_ptr"].zero_()


@triton.autotune(
    [
        triton.Config({"BLOCK": 32}, num_warps=1),
        triton.Config({"BLOCK": 64}, num_warps=2, num_stages=2),
        triton.Config({"BLOCK": 256}, num_warps=1),
        triton.Config({"BLOCK": 32}, num_warps=4, pre_hook=zeroed),
    ],
    key=["n_rows"],
)
@triton.heuristics({"EVEN": lambda args: args["n_rows"] % args["BLOCK"] == 0})
@triton.jit
def tuned_blocks(x_ptr, out_ptr, n_rows, n_cols, EVEN: tl.constexpr, BLOCK: tl.constexpr):
    """Block sizes are coefficients, and the grid and a heuristic depend on them."""
    tl.static_assert(BLOCK <= 128)
    block, column = tl.program_id(0), tl.program_id(1)
    rows = tl.arange(0, BLOCK)
    inside = rows < n_rows - block * BLOCK
    p = x_ptr + block * BLOCK * n_cols + rows * n_cols + column
    if EVEN:
        x = tl.load(p)
    else:
        x = tl.load(p, mask=inside)
    tl.store(out_ptr + column * n_rows + block * BLOCK + rows, x, mask=inside)


def launch_tuned_blocks():
    x = torch.randn(96, 40, device=DEVICE)
    out = torch.empty(40, 96, device=DEVICE)
    tuned_blocks[lambda meta: (triton.cdiv(96, meta["BLOCK"]), 40)](x, out, 96, 40)
    torch.testing.assert_close(out, x.T.contiguous())


@triton.autotune([triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 64}, num_warps=2)], key=["n_rows"])
@triton.jit
def tuned_scale(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    """Columns divided by their sums, which each configuration rounds in its own way; in and out strided."""
    column = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_rows, BLOCK):
        total += tl.load(x_ptr + (start + tl.arange(0, BLOCK)) * n_cols + column)
    for start in range(0, n_rows, BLOCK):
        rows = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + rows * n_cols + column)
        tl.store(out_ptr + rows * n_cols + column, x / tl.sum(total, axis=0))


def launch_tuned_scale():
    x = torch.rand(128, 24, device=DEVICE)
    out = torch.empty_like(x)
    tuned_scale[(24,)](x, out, 128, 24)
    torch.testing.assert_close(out, x / x.sum(0))


@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 32})], key=["n_cols"])
@triton.jit
def half_covered(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    """Only one of the configurations covers all of the 64 rows."""
    rows = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * 64 + rows, tl.load(x_ptr + rows * n_cols + tl.program_id(0)))


def launch_half_covered():
    half_covered[(24,)](torch.randn(64, 24, device=DEVICE), torch.zeros(24, 64, device=DEVICE), 24)


@triton.jit
def host_descriptor(y_desc, x_ptr, out_ptr, n_cols, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """One tensor through a descriptor of the host's, another against its grain."""
    program = tl.program_id(0)
    rows = tl.arange(0, ROWS)
    y = y_desc.load([0, program * COLUMNS])
    x = tl.load(x_ptr + rows * n_cols + program)
    tl.store(out_ptr + program * ROWS + rows, x + tl.sum(y, 1))


def launch_host_descriptor():
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, y = torch.randn(128, 24, device=DEVICE), torch.randn(128, 24 * 16, device=DEVICE)
    out = torch.empty(24, 128, device=DEVICE)
    described = TensorDescriptor.from_tensor(y, [128, 16])
    host_descriptor[(24,)](described, x, out, 24, ROWS=128, COLUMNS=16)
    torch.testing.assert_close(out, x.T + y.reshape(128, 24, 16).sum(2).T)


@triton.jit
def histogram(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    """Adds columns into an accumulator with atomics, read with a stride."""
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows * n_cols + column, mask=rows < n_rows, other=0)
    tl.atomic_add(out_ptr + rows % 8, x, mask=rows < n_rows)


def launch_histogram():
    x = torch.randint(0, 9, (64, 24), device=DEVICE, dtype=torch.int32)
    out = torch.ones(8, dtype=torch.int32, device=DEVICE)
    histogram[(24,)](x, out, 64, 24, BLOCK=64)
    torch.testing.assert_close(out, 1 + x.reshape(8, 8, 24).sum((0, 2)).int())


@triton.jit
def atomic_columns(out_ptr, x_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    column = tl.program_id(0) % n_cols
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows)
    tl.atomic_add(out_ptr + rows * n_cols + column, x)


def launch_atomic_columns():
    x = torch.randint(0, 9, (64,), device=DEVICE, dtype=torch.int32)
    out = torch.zeros(64, 24, dtype=torch.int32, device=DEVICE)
    atomic_columns[(48,)](out, x, 64, 24, BLOCK=64)


@triton.jit
def scaled_column(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    column = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + rows * n_cols + column, mask=rows < n_rows)
    tl.store(out_ptr + rows * n_cols + column, x, mask=rows < n_rows)


def launch_of_type(dtype):
    if dtype in (torch.int8,):
        x = torch.randint(-99, 99, (240, 48), device=DEVICE, dtype=dtype)
    else:
        x = torch.randn(240, 48, device=DEVICE).to(dtype)
    scaled_column[(48,)](x, torch.empty_like(x), 240, 48, BLOCK=256)


def launch_fp16():
    launch_of_type(torch.float16)


def launch_bf16():
    launch_of_type(torch.bfloat16)


def launch_fp8():
    launch_of_type(torch.float8_e5m2)


def launch_int8():
    launch_of_type(torch.int8)


@triton.jit
def gathered(x_ptr, index_ptr, out_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + lanes)
    tl.store(out_ptr + lanes, tl.load(x_ptr + index))


def launch_gathered():
    x = torch.randn(500, device=DEVICE)
    index = torch.randperm(500, device=DEVICE)[:64].to(torch.int32)
    out = torch.empty(64, device=DEVICE)
    gathered[(1,)](x, index, out, BLOCK=64)


@triton.jit
def reversed_rows(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + (BLOCK - 1 - lanes) * n_cols + tl.program_id(0))
    tl.store(out_ptr + tl.program_id(0) * BLOCK + lanes, x)


def launch_reversed_rows():
    x = torch.randn(64, 16, device=DEVICE)
    out = torch.empty(16, 64, device=DEVICE)
    reversed_rows[(16,)](x, out, 16, BLOCK=64)


@triton.jit
def chosen_pointer(x_ptr, y_ptr, flag_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    rows = tl.arange(0, BLOCK)
    if tl.load(flag_ptr) > 0:
        p = x_ptr + rows * n_cols
    else:
        p = y_ptr + rows * n_cols
    tl.store(out_ptr + rows, tl.load(p))


def launch_chosen_pointer():
    x, y = torch.randn(64, 16, device=DEVICE), torch.randn(64, 16, device=DEVICE)
    flag = torch.ones(1, dtype=torch.int32, device=DEVICE)
    out = torch.empty(64, device=DEVICE)
    chosen_pointer[(1,)](x, y, flag, out, 16, BLOCK=64)


@triton.jit
def plain_copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


def launch_plain_copy():
    x = torch.randn(1000, device=DEVICE)
    out = torch.empty_like(x)
    plain_copy[(8,)](x, out, 1000, BLOCK=128)


@triton.jit
def transposed_tile(x_ptr, out_ptr, M, N, B: tl.constexpr):
    """A tile read with its first axis innermost: lanes go along that axis, which is contiguous."""
    m = tl.program_id(0) * B + tl.arange(0, B)
    n = tl.program_id(1) * B + tl.arange(0, B)
    tile = tl.load(x_ptr + n[None, :] * M + m[:, None])
    tl.store(out_ptr + n[None, :] * M + m[:, None], tile * 2)


def launch_transposed_tile():
    x = torch.randn(64, 64, device=DEVICE)
    out = torch.empty_like(x)
    transposed_tile[(2, 2)](x, out, 64, 64, B=32)


@triton.jit
def halo(x_ptr, out_ptr, n_rows, n_cols, BLOCK: tl.constexpr):
    """Three neighbours in the row below, the first one element back."""
    column = tl.program_id(0) + 1
    rows = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for k in range(3):
        total += tl.load(x_ptr + rows * n_cols + column + k + n_cols - 1)
    tl.store(out_ptr + column * BLOCK + rows, total)


def launch_halo():
    x = torch.randn(65, 40, device=DEVICE)
    out = torch.empty(40, 64, device=DEVICE)
    halo[(38,)](x, out, 65, 40, BLOCK=64)


@triton.jit
def anti_diagonal(x_ptr, out_ptr, n, B: tl.constexpr):
    """Lanes go one row down and one column to the left."""
    i = tl.arange(0, B)
    last = tl.program_id(0)
    x = tl.load(x_ptr + last + i * (n - 1), mask=i <= last, other=0.0)
    tl.store(out_ptr + last * B + i, x)


def launch_anti_diagonal():
    x = torch.randn(64, 64, device=DEVICE)
    out = torch.empty(64, 64, device=DEVICE)
    anti_diagonal[(64,)](x, out, 64, B=64)


if __name__ == "__main__":
    known = [n for n in list(globals()) if n.startswith("launch_") and n != "launch_of_type"]
    for name in sys.argv[1:] or known:
        globals()[name if name.startswith("launch_") else f"launch_{name}"]()
