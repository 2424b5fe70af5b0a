/**
 * Which calls to the kernel a sandboxed command may not make, as the program that the kernel runs before each one.
 *
 * They are of two kinds: those that take memory which no limit of a process counts (shared and anonymous files, keys,
 * queues), and those that no ordinary program makes but many holes in kernels were reached by.
 */
const REFUSED: Record<string, readonly [x64: number, arm64: number]> = {
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  msgget: [68, 186],
  semget: [64, 190],
  mq_open: [240, 180],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  vmsplice: [278, 75],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  unshare: [272, 97],
  setns: [308, 268],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
};

const MACHINES = { x64: { audit: 0xc000_003e, column: 0 }, arm64: { audit: 0xc000_00b7, column: 1 } } as const;

/** These are instructions of classic BPF: load a word, jump if equal, jump if at least, return. */
const LOAD = 0x20;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
/** The call fails with EPERM. */
const REFUSE = 0x0005_0001;
/** These are offsets in the data that the program is given. */
const CALL = 0;
const MACHINE = 4;
/** On x64 the same calls have a second set of numbers, which begins here. */
const SECOND_SET = 0x4000_0000;

/** @returns the filter; undefined for a machine whose numbers are not known here */
export function syscallFilter(arch: string = process.arch): Buffer | undefined {
  if (arch !== 'x64' && arch !== 'arm64') return undefined;
  const { audit, column } = MACHINES[arch];
  const numbers = Object.values(REFUSED).map((pair) => pair[column]);
  // The last instruction refuses; a jump counts from the instruction after it.
  const last = 5 + numbers.length;
  const refuseFrom = (index: number) => last - index - 1;
  return Buffer.concat([
    instruction(LOAD, 0, 0, MACHINE),
    instruction(IF_EQUAL, 0, refuseFrom(1), audit),
    instruction(LOAD, 0, 0, CALL),
    instruction(IF_AT_LEAST, refuseFrom(3), 0, SECOND_SET),
    ...numbers.map((number, i) => instruction(IF_EQUAL, refuseFrom(4 + i), 0, number)),
    instruction(RETURN, 0, 0, ALLOW),
    instruction(RETURN, 0, 0, REFUSE),
  ]);
}

/** Writes a `struct sock_filter` of linux/filter.h. */
const instruction = (code: number, ifTrue: number, ifFalse: number, value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(ifTrue, 2);
  bytes.writeUInt8(ifFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
};
