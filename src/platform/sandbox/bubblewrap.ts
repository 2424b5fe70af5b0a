/**
 * The command line that puts a program into bubblewrap: namespaces of its own for everything, no network, the system's
 * programs read-only and nothing else of its files, an empty home, no environment, no capability, limits on what it takes.
 */
import { existsSync } from 'node:fs';

export interface CommandLimits {
  /** The program `bwrap`: its path, or a name that is looked for in `launchEnvironment`. */
  bubblewrap: string;
  /** Limits each process, and all of them together. */
  memoryBytes: number;
  processes: number;
}

const PATH = '/usr/local/bin:/usr/bin:/bin';
const HOME = '/home/tool';
const MB = 1_024 * 1_024;
/** Limits the address space, which is larger than the memory because runtimes reserve far more than they use. */
const SPACE_BYTES = 4_096 * MB;
const FILES_BYTES = 64 * MB;
const SHARED_BYTES = 16 * MB;
const OPEN_FILES = 128;

/** The program is started with this path alone. */
export const launchEnvironment = { PATH };

/** These are links on most systems and directories on some. */
const SYSTEM = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'].filter((path) => existsSync(path));
/** These lie in /usr but are not the system's: services are often installed there, so they stay hidden. */
const NOT_SYSTEM = ['/usr/src', '/usr/local/src'].filter((path) => existsSync(path));

/**
 * The program and its arguments, each still one argument. Whoever is root must start it as somebody else: root's files
 * are the kernel's settings too, and no limit on processes counts for root.
 * @param seconds of processor time for one process
 * @param filterFd where the filter of system calls is read from
 * @param infoFd where it says, as JSON with `child-pid`, which is the first process inside, before that one does anything
 */
export const bubblewrapped = (
  argv: readonly string[],
  { bubblewrap, memoryBytes, processes }: CommandLimits,
  { seconds, filterFd, infoFd }: { seconds: number; filterFd?: number; infoFd?: number },
): [string, ...string[]] => [
  // When the machine is short of anything, the command waits or ends, and not the service.
  ...(['nice', '-n', '10', 'choom', '-n', '1000', '--'] as const),
  ...[bubblewrap, '--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
  ...['--clearenv', '--setenv', 'PATH', PATH, '--setenv', 'HOME', HOME, '--setenv', 'LANG', 'C.UTF-8'],
  ...['--cap-drop', 'ALL', '--uid', '65534', '--gid', '65534', '--hostname', 'sandbox'],
  ...['--ro-bind', '/usr', '/usr', ...NOT_SYSTEM.flatMap((path) => ['--tmpfs', path, '--remount-ro', path])],
  ...SYSTEM.flatMap((path) => ['--ro-bind', path, path]),
  ...['/etc/ld.so.cache', '/etc/alternatives'].flatMap((path) => ['--ro-bind-try', path, path]),
  ...['--proc', '/proc', '--remount-ro', '/proc'],
  ...['--dev', '/dev', '--size', `${SHARED_BYTES}`, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
  ...['--size', `${FILES_BYTES}`, '--tmpfs', '/tmp', '--size', `${FILES_BYTES}`, '--tmpfs', HOME],
  ...['--chdir', HOME, '--remount-ro', '/'],
  ...(filterFd === undefined ? [] : ['--seccomp', String(filterFd)]),
  ...(infoFd === undefined ? [] : ['--info-fd', String(infoFd)]),
  // The limits are set inside the sandbox, where the limit on processes counts its own alone.
  ...['--', 'prlimit', `--nproc=${processes}`, `--data=${memoryBytes}`, `--as=${Math.max(SPACE_BYTES, memoryBytes)}`],
  ...[`--cpu=${seconds}`, `--fsize=${FILES_BYTES}`, `--nofile=${OPEN_FILES}`],
  ...['--core=0', '--memlock=65536', '--msgqueue=0', '--sigpending=256'],
  ...['--', ...argv],
];
