/** Where the time of a run goes: CPU seconds of its files and servers. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** So many files are told. */
const TOLD = 10;
let ticksPerSecond;

/**
 * @returns of a process and of its children that have ended; nothing where there is no /proc. What outlives its parent is
 * not in it: the processes of a browser, and what a killed service had started.
 */
export function cpuSecondsOf(pid) {
  try {
    return process.platform === 'linux' ? timesIn(readFileSync(`/proc/${pid}/stat`, 'utf8')).seconds : undefined;
  } catch {
    // It has ended.
    return undefined;
  }
}

function timesIn(stat) {
  ticksPerSecond ??= Number(execFileSync('getconf', ['CLK_TCK']));
  // The name of the program, in parentheses, may have spaces; its parent is the 4th field, its times are the 14th to 17th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, each) => sum + Number(each), 0);
  const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
  return { name, parent: Number(fields[1]), seconds: ticks / ticksPerSecond };
}

/** @returns of the servers that this process has started and that run now, each by the name of its program */
function cpuSecondsOfServers() {
  if (process.platform !== 'linux') return {};
  const running = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const all = new Map(running.flatMap((pid) => entryOf(pid)));
  const sums = {};
  for (const [pid, { name, seconds }] of all) {
    // The workers of the run are Node: what they do is told by file.
    if (!['node', 'MainThread'].includes(name) && isBeneath(pid)) sums[name] = (sums[name] ?? 0) + seconds;
  }
  return sums;

  function isBeneath(pid) {
    const { parent } = all.get(pid) ?? {};
    return parent !== undefined && (parent === process.pid || isBeneath(parent));
  }
}

function entryOf(pid) {
  try {
    return [[Number(pid), timesIn(readFileSync(`/proc/${pid}/stat`, 'utf8'))]];
  } catch {
    return [];
  }
}

/** @param files each with its path, and its seconds of the clock and of CPU */
export function tellTimes(files) {
  const line = ({ seconds, cpuSeconds, path }) =>
    `${seconds.toFixed(0).padStart(6)} s ${(cpuSeconds ?? 0).toFixed(1).padStart(7)} s  ${relative(ROOT, path)}`;
  const servers = Object.entries(cpuSecondsOfServers()).map(([name, seconds]) => `${name} ${seconds.toFixed(0)} s`);
  const ofFiles = files.reduce((sum, { cpuSeconds = 0 }) => sum + cpuSeconds, 0);
  return [
    '  clock       CPU',
    ...files
      .toSorted((a, b) => (b.cpuSeconds ?? b.seconds) - (a.cpuSeconds ?? a.seconds))
      .slice(0, process.env.TEST_TIMES === 'all' ? undefined : TOLD)
      .map(line),
    `CPU of all ${files.length} files ${ofFiles.toFixed(0)} s; of their servers: ${servers.join(', ')}`,
  ].join('\n');
}
