"""Kernels with shapes of code that are hard to follow from source to machine code."""
import triton, triton.language as tl

@triton.jit
def _load(p, o, m):
    return tl.load(p + o,
                   mask=m, other=0.0)

class Box:
    @triton.jit
    def nested(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)

@triton.jit
def twice(x_ptr, y_ptr, n, s, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = _load(x_ptr, i, i < n)
    b = _load(x_ptr, i * s, i < n)
    tl.store(y_ptr + i, a + b)

@triton.jit
def unrolled(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in tl.static_range(3):
        acc += tl.load(x_ptr + i * (k + 1))
    for k in range(4):
        acc += tl.load(x_ptr + i + k * 4096)
    tl.store(y_ptr + i, acc)

@triton.jit
def equal(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + i)
    c = tl.load(x_ptr + i // 8)
    tl.store(y_ptr + i, a + b + c)

@triton.jit
def loops(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for k in range(tl.program_id(0), n, BLOCK):
        acc += tl.load(x_ptr + k + i, mask=k + i < n, other=0.0)
    tl.store(y_ptr + tl.program_id(0), tl.sum(acc))
    tl.atomic_add(y_ptr + i, acc)
    tl.atomic_max(y_ptr + tl.program_id(0), 1.0)

@triton.jit
def mm(a_ptr, b_ptr, bias, c_ptr, cnt, M, N, K, sam, sbk, scm, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1)
    rm = pm*BM + tl.arange(0,BM); rn = pn*BN + tl.arange(0,BN); rk = tl.arange(0,BK)
    acc = tl.zeros((BM,BN), tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rm[:,None]*sam + (k+rk)[None,:], mask=(k+rk)[None,:] < K, other=0.0)
        b = _load(b_ptr, (k+rk)[:,None]*sbk + rn[None,:], rn[None,:] < N)
        acc += tl.dot(a,b)
    bb = tl.load(bias + rn)
    acc = acc + bb[None,:]
    tl.store(c_ptr + rm[:,None]*scm + rn[None,:], acc.to(tl.float16))
    tl.atomic_add(cnt + pm, 1)
    tl.atomic_add(bias + rn, tl.sum(acc,0), mask=rn<N)
