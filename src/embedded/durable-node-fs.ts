/**
 * PGlite's file system on a directory of this machine, with fsync. Without it Postgres asks for a sync at each commit and
 * each checkpoint, nothing happens, and a power loss takes every commit of the last half minute.
 */
import type { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import fs from 'node:fs';

/** The parts of Emscripten's file system that are used here; PGlite's types do not name them. */
interface EmscriptenFS {
  filesystems: { NODEFS: NodeFiles };
  isDir(mode: number): boolean;
}
interface NodeFiles {
  node_ops: { setattr: (node: FileNode, ...args: unknown[]) => unknown };
  stream_ops: Record<'write' | 'setattr', (stream: OpenFile, ...args: unknown[]) => unknown> & {
    fsync?: (stream: OpenFile) => number;
  };
  /** Turns an error of Node into one that Postgres understands. */
  tryFSOperation<T>(operation: () => T): T;
}
interface FileNode {
  mode: number;
}
interface OpenFile {
  /** Node's file descriptor. */
  nfd: number;
  node: FileNode;
}

type Options = Parameters<NodeFS['init']>[1];

/**
 * What the directory holds at the start has to be on the disk already: after a crash Postgres syncs all of its thousand
 * files one by one, which takes seconds, so a file that this process has not changed is not synced again.
 */
export class DurableNodeFS extends NodeFS {
  override async init(pg: PGlite, options: Options): Promise<{ emscriptenOpts: Options }> {
    const { emscriptenOpts } = await super.init(pg, options);
    const addFsync = ({ FS }: { FS: EmscriptenFS }) => makeDurable(FS);
    return { emscriptenOpts: { ...emscriptenOpts, preRun: [...(emscriptenOpts.preRun ?? []), addFsync] } };
  }
}

function makeDurable({ filesystems: { NODEFS: files }, isDir }: EmscriptenFS): void {
  const changed = new WeakSet<FileNode>();
  const { node_ops: nodes, stream_ops: streams } = files;
  const { setattr } = nodes;
  const { write, setattr: setattrOpen } = streams;
  // The mode of each new file is set right after its creation.
  nodes.setattr = (node, ...args) => {
    changed.add(node);
    return setattr(node, ...args);
  };
  streams.setattr = (stream, ...args) => {
    changed.add(stream.node);
    return setattrOpen(stream, ...args);
  };
  streams.write = (stream, ...args) => {
    changed.add(stream.node);
    return write(stream, ...args);
  };
  streams.fsync = ({ nfd, node }) =>
    files.tryFSOperation(() => {
      // fdatasync leaves out what it takes for metadata, such as a rename in a directory of ext4.
      if (isDir(node.mode)) fs.fsyncSync(nfd);
      else if (changed.has(node)) fs.fdatasyncSync(nfd);
      return 0;
    });
}

/**
 * Arguments of a durable Postgres: PGlite's own without `-F`, which turns fsync off, and with the one sync method that
 * reaches this file system.
 */
export const durableStartParams = (defaults: readonly string[]): string[] => [
  ...defaults.filter((param) => param !== '-F'),
  ...['-c', 'wal_sync_method=fsync'],
];
