// The filter of system calls as a classic BPF program (linux/filter.h, linux/seccomp.h), in the form that bubblewrap reads from a descriptor:
// an array of struct sock_filter { u16 code; u8 jt; u8 jf; u32 k }, little endian.
import { ALLOWED_IOCTLS, ALLOWED_PRCTLS, ARCHITECTURES, CLONE_THREAD } from './system-calls.ts';

/** code, jump if true, jump if false (both in instructions to skip), operand */
type Instruction = readonly [code: number, jt: number, jf: number, k: number];

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_IF_BITS = 0x45;
const RETURN = 0x06;

/** Offsets in struct seccomp_data. Of arguments the low half: both architectures are little endian. */
const DATA = { call: 0, architecture: 4, argument: (n: number) => 16 + 8 * n } as const;
const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
/** SECCOMP_RET_ERRNO | ENOSYS, so that the C library falls back to older calls where it knows any (clone3 to clone). */
const NO_SUCH_CALL = 0x00050000 | 38;
const NOT_PERMITTED = 0x00050000 | 1;

const give = (verdict: number): Instruction => [RETURN, 0, 0, verdict];

/** @returns null for an architecture of which the calls are not known here */
export function systemCallFilter(architecture: string): Buffer | null {
  const machine = ARCHITECTURES[architecture];
  if (!machine) return null;
  const { audit, foreignFrom, clone, ioctl, prctl, allowed } = machine;
  const program: Instruction[] = [
    [LOAD, 0, 0, DATA.architecture],
    [JUMP_EQUAL, 1, 0, audit],
    give(KILL_PROCESS),
    [LOAD, 0, 0, DATA.call],
    ...(foreignFrom === undefined ? [] : [[JUMP_AT_LEAST, 0, 1, foreignFrom] as const, give(KILL_PROCESS)]),
    ...allowed.flatMap((call): Instruction[] => [[JUMP_EQUAL, 0, 1, call], give(ALLOW)]),
    ...onCall(clone, [[LOAD, 0, 0, DATA.argument(0)], [JUMP_IF_BITS, 0, 1, CLONE_THREAD], give(ALLOW), give(NOT_PERMITTED)]),
    ...onCall(ioctl, oneOf(1, ALLOWED_IOCTLS)),
    ...onCall(prctl, oneOf(0, ALLOWED_PRCTLS)),
    give(NO_SUCH_CALL),
  ];
  return encode(program);
}

/** The instructions, all of which come to a verdict, for this call only. */
function onCall(call: number, instructions: readonly Instruction[]): Instruction[] {
  return [[JUMP_EQUAL, 0, instructions.length, call], ...instructions];
}

function oneOf(argument: number, values: readonly number[]): Instruction[] {
  return [
    [LOAD, 0, 0, DATA.argument(argument)],
    ...values.flatMap((value): Instruction[] => [[JUMP_EQUAL, 0, 1, value], give(ALLOW)]),
    give(NOT_PERMITTED),
  ];
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  program.forEach(([code, jt, jf, k], i) => {
    bytes.writeUInt16LE(code, i * 8);
    bytes.writeUInt8(jt, i * 8 + 2);
    bytes.writeUInt8(jf, i * 8 + 3);
    bytes.writeUInt32LE(k >>> 0, i * 8 + 4);
  });
  return bytes;
}
