/** Which process is at the other end of a connection on this machine. */
import type { Socket } from 'node:net';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** @returns the one of these that has it; undefined where this system does not tell */
export function ownerOf({ remotePort, localPort }: Socket, pids: readonly number[]): number | undefined {
  try {
    const row = readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .find(([, local, remote]) => portOf(local) === remotePort && portOf(remote) === localPort);
    const inode = row?.[9];
    return inode === undefined ? undefined : pids.find((pid) => has(pid, `socket:[${inode}]`));
  } catch {
    return undefined;
  }
}

const portOf = (address: string | undefined): number => parseInt(address?.split(':')[1] ?? '', 16);

function has(pid: number, socket: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`) === socket;
    } catch {
      return false; // Closed meanwhile.
    }
  });
}
