"""Kernels as they are written in practice, for comparing the static model with the compiled oracle."""
import triton, triton.language as tl
@triton.jit
def softmax(o, x, xs, os, n_rows, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    for r in tl.range(row, n_rows, tl.num_programs(0)):
        i = tl.arange(0, BLOCK)
        v = tl.load(x + r * xs + i, mask=i < n_cols, other=-float("inf"))
        v = v - tl.max(v, axis=0)
        e = tl.exp(v)
        tl.store(o + r * os + i, e / tl.sum(e, axis=0), mask=i < n_cols)
@triton.jit
def layernorm(x, y, w, b, mean, rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride; y += row * stride
    acc = tl.zeros([BLOCK], tl.float32)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        acc += tl.load(x + c, mask=c < N, other=0.).to(tl.float32)
    m = tl.sum(acc, axis=0) / N
    tl.store(mean + row, m)
    for off in range(0, N, BLOCK):
        c = off + tl.arange(0, BLOCK)
        k = c < N
        ww = tl.load(w + c, mask=k); bb = tl.load(b + c, mask=k)
        xx = tl.load(x + c, mask=k, other=0.).to(tl.float32)
        tl.store(y + c, (xx - m) * ww + bb, mask=k)
@triton.jit
def matmul(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pid = tl.program_id(0)
    nm = tl.cdiv(M, BM); nn = tl.cdiv(N, BN)
    npg = G * nn
    gid = pid // npg
    first = gid * G
    gs = min(nm - first, G)
    pm = first + ((pid % npg) % gs)
    pn = (pid % npg) // gs
    oa = (pm * BM + tl.arange(0, BM)) % M
    ob = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    ap = a + (oa[:, None] * sam + ok[None, :] * sak)
    bp = b + (ok[:, None] * sbk + ob[None, :] * sbn)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=ok[None, :] < K - k * BK, other=0.0)
        y = tl.load(bp, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK * sak
        bp += BK * sbk
    cm = pm * BM + tl.arange(0, BM); cn = pn * BN + tl.arange(0, BN)
    tl.store(c + scm * cm[:, None] + scn * cn[None, :], acc.to(tl.float16), mask=(cm[:, None] < M) & (cn[None, :] < N))
@triton.jit
def rope(q, cos, sin, sq, sc, H, HD: tl.constexpr, BH: tl.constexpr):
    p = tl.program_id(0)
    h = tl.arange(0, BH)[:, None]
    d = tl.arange(0, HD // 2)[None, :]
    m = (h < H) & (d < HD // 2)
    c = tl.load(cos + p * sc + tl.arange(0, HD // 2))
    s = tl.load(sin + p * sc + tl.arange(0, HD // 2))
    x1 = tl.load(q + p * sq + h * HD + d, mask=m, other=0)
    x2 = tl.load(q + p * sq + h * HD + d + HD // 2, mask=m, other=0)
    tl.store(q + p * sq + h * HD + d, x1 * c[None, :] - x2 * s[None, :], mask=m)
    tl.store(q + p * sq + h * HD + d + HD // 2, x2 * c[None, :] + x1 * s[None, :], mask=m)
@triton.jit
def int4(qw, sc, o, K, N, sk, GS: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    w = tl.load(qw + (k[:, None] // 8) * sk + n[None, :])
    s = tl.load(sc + (k[:, None] // GS) * N + n[None, :])
    v = (w >> ((k[:, None] % 8) * 4)) & 15
    tl.store(o + k[:, None] * N + n[None, :], v.to(tl.float16) * s)
@triton.jit
def groupnorm(x, y, w, C, HW, CG: tl.constexpr, BC: tl.constexpr, BH: tl.constexpr):
    g = tl.program_id(0); n = tl.program_id(1)
    c = g * CG + tl.arange(0, BC)
    base = n * C * HW
    wv = tl.load(w + c, mask=c < C, other=0.)
    for s in range(0, HW, BH):
        hw = s + tl.arange(0, BH)
        off = base + c[:, None] * HW + hw[None, :]
        m = (c[:, None] < C) & (hw[None, :] < HW)
        v = tl.load(x + off, mask=m, other=0.)
        tl.store(y + off, v * wv[:, None], mask=m)
@triton.jit
def colreduce(x, o, M, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for s in range(0, M, BM):
        m = s + tl.arange(0, BM)
        acc += tl.sum(tl.load(x + m[:, None] * N + n[None, :], mask=(m[:, None] < M) & (n[None, :] < N), other=0.), axis=0)
    tl.store(o + n, acc, mask=n < N)
@triton.jit
def attn(q, k, v, o, sqh, sqm, sqd, skh, skn, skd, N, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    pm = tl.program_id(0); h = tl.program_id(1)
    m = pm * BM + tl.arange(0, BM); d = tl.arange(0, D); n = tl.arange(0, BN)
    qq = tl.load(q + h * sqh + m[:, None] * sqm + d[None, :] * sqd)
    acc = tl.zeros((BM, D), tl.float32)
    mi = tl.zeros((BM,), tl.float32) - float("inf")
    li = tl.zeros((BM,), tl.float32)
    kp = k + h * skh + n[None, :] * skn + d[:, None] * skd
    vp = v + h * skh + n[:, None] * skn + d[None, :] * skd
    for s in range(0, N, BN):
        kk = tl.load(kp); vv = tl.load(vp)
        qk = tl.dot(qq, kk)
        mn = tl.maximum(mi, tl.max(qk, 1))
        p = tl.exp(qk - mn[:, None])
        al = tl.exp(mi - mn)
        li = li * al + tl.sum(p, 1)
        acc = acc * al[:, None]
        acc = tl.dot(p.to(tl.float16), vv, acc)
        mi = mn
        kp += BN * skn; vp += BN * skn
    acc = acc / li[:, None]
    tl.store(o + h * sqh + m[:, None] * sqm + d[None, :] * sqd, acc.to(tl.float16))
@triton.jit
def embed(ids, w, o, D, BD: tl.constexpr, BT: tl.constexpr):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    i = tl.load(ids + t)
    d = tl.arange(0, BD)
    m = d[None, :] < D
    tl.store(o + t[:, None] * D + d[None, :], tl.load(w + i[:, None] * D + d[None, :], mask=m), mask=m)
@triton.jit
def swiglu(x, y, s, N, BLOCK: tl.constexpr):
    r = tl.program_id(0); c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + r * s + c, mask=c < N).to(tl.float32)
    b = tl.load(x + r * s + N + c, mask=c < N).to(tl.float32)
    tl.store(y + r * N + c, a * tl.sigmoid(a) * b, mask=c < N)
@triton.jit
def transpose3(x, y, A, B, C, BA: tl.constexpr, BB: tl.constexpr, BC: tl.constexpr):
    a = tl.program_id(0) * BA + tl.arange(0, BA); b = tl.program_id(1) * BB + tl.arange(0, BB); c = tl.program_id(2) * BC + tl.arange(0, BC)
    v = tl.load(x + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    tl.store(y + c[None, None, :] * (A * B) + a[:, None, None] * B + b[None, :, None], v)
@triton.jit
def split_pairs(x, y, z, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK * 2 + tl.arange(0, 2 * BLOCK)
    v = tl.load(x + i)
    a, b = tl.split(tl.reshape(v, (BLOCK, 2)))
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + j, a); tl.store(z + j, b)
@triton.jit
def colstats(x, mx, am, M, N, BM: tl.constexpr, BN: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.arange(0, BM)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(mx + n, tl.max(v, axis=0)); tl.store(am + n, tl.argmax(v, axis=0))
@triton.jit
def rowstats(x, mx, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.arange(0, BN)
    v = tl.load(x + m[:, None] * N + n[None, :])
    s = tl.sum(v, axis=1)
    tl.store(mx + m, s)
    tl.store(x + m[:, None] * N + n[None, :], v - s[:, None])
