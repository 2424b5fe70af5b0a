/** Prometheus' checker of rules: the one that `PROMTOOL` names, the machine's, else that of Debian's package. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { unpackDebianPackage } from './debian-package.ts';

/** @throws Error where there is none */
export async function findPromtool(): Promise<string> {
  const named = process.env.PROMTOOL ?? 'promtool';
  if (spawnSync(named, ['--version']).status === 0) return named;
  return join(await unpackDebianPackage('prometheus'), 'usr/bin/promtool');
}
