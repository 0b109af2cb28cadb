// MD5, SHA-1 and SHA-2 with HMAC, written out since the isolate has no crypto. Bytes in, bytes out.

interface Algorithm {
  readonly blockBytes: number;
  readonly digest: (bytes: Uint8Array) => Uint8Array;
}

/** The message with its 1 bit, zeros, and length in bits, filled to whole blocks. */
function padded(bytes: Uint8Array, blockBytes: number, lengthBytes: number, littleEndian: boolean): DataView {
  const size = Math.ceil((bytes.length + 1 + lengthBytes) / blockBytes) * blockBytes;
  const all = new Uint8Array(size);
  all.set(bytes);
  all[bytes.length] = 0x80;
  const view = new DataView(all.buffer);
  view.setBigUint64(size - 8, BigInt(bytes.length) * 8n, littleEndian);
  return view;
}

function wordsToBytes(words: ArrayLike<number>, count: number, littleEndian = false): Uint8Array {
  const view = new DataView(new ArrayBuffer(count * 4));
  for (let i = 0; i < count; i++) view.setUint32(i * 4, words[i] as number, littleEndian);
  return new Uint8Array(view.buffer);
}

const left = (x: number, n: number): number => (x << n) | (x >>> (32 - n));
const right = (x: number, n: number): number => (x >>> n) | (x << (32 - n));

// ---------------------------------------------------------------- MD5

const MD5_SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
const MD5_SINES = Array.from({ length: 64 }, (_, i) => Math.floor(Math.abs(Math.sin(i + 1)) * 2 ** 32) | 0);

function md5(bytes: Uint8Array): Uint8Array {
  const view = padded(bytes, 64, 8, true);
  const state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
  for (let block = 0; block < view.byteLength; block += 64) {
    let [a, b, c, d] = state as [number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const round = i >> 4;
      const mix = round === 0 ? (b & c) | (~b & d) : round === 1 ? (d & b) | (~d & c) : round === 2 ? b ^ c ^ d : c ^ (b | ~d);
      const word = round === 0 ? i : round === 1 ? (5 * i + 1) & 15 : round === 2 ? (3 * i + 5) & 15 : (7 * i) & 15;
      const sum = (a + mix + (MD5_SINES[i] as number) + view.getInt32(block + word * 4, true)) | 0;
      a = d;
      d = c;
      c = b;
      b = (b + left(sum, MD5_SHIFTS[round * 4 + (i & 3)] as number)) | 0;
    }
    [a, b, c, d].forEach((word, i) => {
      state[i] = ((state[i] as number) + word) | 0;
    });
  }
  return wordsToBytes(state, 4, true);
}

// ---------------------------------------------------------------- SHA-1

function sha1(bytes: Uint8Array): Uint8Array {
  const view = padded(bytes, 64, 8, false);
  const state = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476, 0xc3d2e1f0 | 0];
  const words = new Int32Array(80);
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(block + i * 4);
    const at = (i: number): number => words[i] as number;
    for (let i = 16; i < 80; i++) words[i] = left(at(i - 3) ^ at(i - 8) ^ at(i - 14) ^ at(i - 16), 1);
    let [a, b, c, d, e] = state as [number, number, number, number, number];
    for (let i = 0; i < 80; i++) {
      const [mix, constant] =
        i < 20
          ? [(b & c) | (~b & d), 0x5a827999]
          : i < 40
            ? [b ^ c ^ d, 0x6ed9eba1]
            : i < 60
              ? [(b & c) | (b & d) | (c & d), 0x8f1bbcdc]
              : [b ^ c ^ d, 0xca62c1d6];
      const next = (left(a, 5) + mix + e + constant + at(i)) | 0;
      e = d;
      d = c;
      c = left(b, 30);
      b = a;
      a = next;
    }
    [a, b, c, d, e].forEach((word, i) => {
      state[i] = ((state[i] as number) + word) | 0;
    });
  }
  return wordsToBytes(state, 5);
}

// ---------------------------------------------------------------- SHA-2

const wide = (hex: string): bigint[] => hex.split(' ').map((word) => BigInt(`0x${word}`));
const highHalves = (words: readonly bigint[]): Int32Array => Int32Array.from(words, (word) => Number(word >> 32n));

/** Fractions of the cube roots of the first 80 primes; SHA-256 takes the high halves of the first 64. */
const CUBE_ROOTS = wide(
  '428a2f98d728ae22 7137449123ef65cd b5c0fbcfec4d3b2f e9b5dba58189dbbc 3956c25bf348b538 59f111f1b605d019 923f82a4af194f9b ab1c5ed5da6d8118 ' +
    'd807aa98a3030242 12835b0145706fbe 243185be4ee4b28c 550c7dc3d5ffb4e2 72be5d74f27b896f 80deb1fe3b1696b1 9bdc06a725c71235 c19bf174cf692694 ' +
    'e49b69c19ef14ad2 efbe4786384f25e3 0fc19dc68b8cd5b5 240ca1cc77ac9c65 2de92c6f592b0275 4a7484aa6ea6e483 5cb0a9dcbd41fbd4 76f988da831153b5 ' +
    '983e5152ee66dfab a831c66d2db43210 b00327c898fb213f bf597fc7beef0ee4 c6e00bf33da88fc2 d5a79147930aa725 06ca6351e003826f 142929670a0e6e70 ' +
    '27b70a8546d22ffc 2e1b21385c26c926 4d2c6dfc5ac42aed 53380d139d95b3df 650a73548baf63de 766a0abb3c77b2a8 81c2c92e47edaee6 92722c851482353b ' +
    'a2bfe8a14cf10364 a81a664bbc423001 c24b8b70d0f89791 c76c51a30654be30 d192e819d6ef5218 d69906245565a910 f40e35855771202a 106aa07032bbd1b8 ' +
    '19a4c116b8d2d0c8 1e376c085141ab53 2748774cdf8eeb99 34b0bcb5e19b48a8 391c0cb3c5c95a63 4ed8aa4ae3418acb 5b9cca4f7763e373 682e6ff3d6b2b8a3 ' +
    '748f82ee5defb2fc 78a5636f43172f60 84c87814a1f0ab72 8cc702081a6439ec 90befffa23631e28 a4506cebde82bde9 bef9a3f7b2c67915 c67178f2e372532b ' +
    'ca273eceea26619c d186b8c721c0c207 eada7dd6cde0eb1e f57d4f7fee6ed178 06f067aa72176fba 0a637dc5a2c898a6 113f9804bef90dae 1b710b35131c471b ' +
    '28db77f523047d84 32caab7b40c72493 3c9ebe0a15c9bebc 431d67c49c100d4c 4cc5d4becb3e42b6 597f299cfc657e2a 5fcb6fab3ad6faec 6c44198c4a475817',
);
/** Fractions of the square roots of the first 16 primes: the first eight begin SHA-256 and SHA-512, the others SHA-384. */
const SQUARE_ROOTS = wide(
  '6a09e667f3bcc908 bb67ae8584caa73b 3c6ef372fe94f82b a54ff53a5f1d36f1 510e527fade682d1 9b05688c2b3e6c1f 1f83d9abfb41bd6b 5be0cd19137e2179 ' +
    'cbbb9d5dc1059ed8 629a292a367cd507 9159015a3070dd17 152fecd8f70e5939 67332667ffc00b31 8eb44a8768581511 db0c2e0d64f98fa7 47b5481dbefa4fa4',
);

const K256 = highHalves(CUBE_ROOTS);
const INITIAL_256 = highHalves(SQUARE_ROOTS);

function sha256(bytes: Uint8Array): Uint8Array {
  const view = padded(bytes, 64, 8, false);
  const state = INITIAL_256.slice(0, 8);
  const words = new Int32Array(64);
  const at = (i: number): number => words[i] as number;
  for (let block = 0; block < view.byteLength; block += 64) {
    for (let i = 0; i < 16; i++) words[i] = view.getInt32(block + i * 4);
    for (let i = 16; i < 64; i++) {
      const s0 = right(at(i - 15), 7) ^ right(at(i - 15), 18) ^ (at(i - 15) >>> 3);
      const s1 = right(at(i - 2), 17) ^ right(at(i - 2), 19) ^ (at(i - 2) >>> 10);
      words[i] = at(i - 16) + s0 + at(i - 7) + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i++) {
      const s1 = right(e, 6) ^ right(e, 11) ^ right(e, 25);
      const first = (h + s1 + ((e & f) ^ (~e & g)) + (K256[i] as number) + at(i)) | 0;
      const s0 = right(a, 2) ^ right(a, 13) ^ right(a, 22);
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = (state[i] as number) + word;
    });
  }
  return wordsToBytes(state, 8);
}

/** The 64-bit SHA-2 on bigints modulo 2^64: a tenth of the speed of the others, and a fifth of the lines that pairs of words would take. */
function sha512(bytes: Uint8Array, initial: readonly bigint[], outputBytes: number): Uint8Array {
  const view = padded(bytes, 128, 16, false);
  const state = [...initial];
  const turn = (x: bigint, n: bigint): bigint => (x >> n) | BigInt.asUintN(64, x << (64n - n));
  const words = new BigUint64Array(80);
  const at = (i: number): bigint => words[i] as bigint;
  for (let block = 0; block < view.byteLength; block += 128) {
    for (let i = 0; i < 16; i++) words[i] = view.getBigUint64(block + i * 8);
    for (let i = 16; i < 80; i++) {
      const s0 = turn(at(i - 15), 1n) ^ turn(at(i - 15), 8n) ^ (at(i - 15) >> 7n);
      const s1 = turn(at(i - 2), 19n) ^ turn(at(i - 2), 61n) ^ (at(i - 2) >> 6n);
      words[i] = at(i - 16) + s0 + at(i - 7) + s1;
    }
    let [a, b, c, d, e, f, g, h] = state as [bigint, bigint, bigint, bigint, bigint, bigint, bigint, bigint];
    for (let i = 0; i < 80; i++) {
      const s1 = turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n);
      const first = h + s1 + ((e & f) ^ ((e ^ 0xffff_ffff_ffff_ffffn) & g)) + (CUBE_ROOTS[i] as bigint) + at(i);
      const s0 = turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n);
      const second = s0 + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, BigInt.asUintN(64, d + first), c, b, a, BigInt.asUintN(64, first + second)];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => {
      state[i] = BigInt.asUintN(64, (state[i] as bigint) + word);
    });
  }
  const result = new DataView(new ArrayBuffer(64));
  for (let i = 0; i < 8; i++) result.setBigUint64(i * 8, state[i] as bigint);
  return new Uint8Array(result.buffer, 0, outputBytes);
}

// ---------------------------------------------------------------- by name

export const DIGESTS = {
  md5: { blockBytes: 64, digest: md5 },
  sha1: { blockBytes: 64, digest: sha1 },
  sha256: { blockBytes: 64, digest: sha256 },
  sha384: { blockBytes: 128, digest: (bytes: Uint8Array) => sha512(bytes, SQUARE_ROOTS.slice(8), 48) },
  sha512: { blockBytes: 128, digest: (bytes: Uint8Array) => sha512(bytes, SQUARE_ROOTS.slice(0, 8), 64) },
} as const satisfies Record<string, Algorithm>;
export type DigestName = keyof typeof DIGESTS;

/** RFC 2104. */
export function hmac(name: DigestName, key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const { blockBytes, digest } = DIGESTS[name];
  const block = new Uint8Array(blockBytes);
  block.set(key.length > blockBytes ? digest(key) : key);
  const keyed = (mask: number, rest: Uint8Array): Uint8Array => {
    const all = new Uint8Array(blockBytes + rest.length);
    block.forEach((byte, i) => {
      all[i] = byte ^ mask;
    });
    all.set(rest, blockBytes);
    return digest(all);
  };
  return keyed(0x5c, keyed(0x36, bytes));
}
