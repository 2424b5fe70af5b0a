/** Types the commands of a page into a shell, as a reader would, beside a service that runs. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { itemAt, present } from '../../src/platform/core/present.ts';
import { inherited } from '../support/processes/inherited.ts';
import { commandsOf, ROOT, type Block } from './blocks.ts';

/** A block that takes longer waits for what does not come. */
const LIMIT_MS = 300_000;
/** After such a remark a command is repeated until it shows what the page has. */
const LATER = /#.*\blater$/m;

export interface Desk {
  folder: string;
  env: NodeJS.ProcessEnv;
}

/**
 * A folder in which the commands find what they would in the repository: the service's data, `npx aos`, its tools. What they make
 * lies beside it, as the repository is not theirs.
 * `curl` fails here for an answer that is an error, which it would print and pass over.
 */
export async function makeDesk(folder: string, dataDir: string): Promise<Desk> {
  await mkdir(join(folder, 'bin'), { recursive: true });
  await symlink(dataDir, join(folder, '.data'));
  for (const name of ['.cache', 'src', 'docs', 'deploy']) await symlink(join(ROOT, name), join(folder, name));
  // As the pages have `npm install` put the packed client.
  const client = join(folder, '../aos-files/node_modules/agent-orchestration-client');
  await mkdir(client, { recursive: true });
  await symlink(join(ROOT, 'client/src'), join(client, 'src'));
  await writeFile(join(client, 'package.json'), '{ "type": "module", "exports": "./src/index.ts" }');
  const aos = `exec "${process.execPath}" --import="${join(ROOT, 'src/quick-imports.mjs')}" "${join(ROOT, 'src/cli.ts')}" "$@"`;
  await writeFile(join(folder, 'bin/npx'), `#!/bin/sh\n[ "$1" = aos ] || exit 127\nshift\n${aos}\n`, { mode: 0o755 });
  await writeFile(join(folder, '.curlrc'), 'fail-with-body\nshow-error\n');
  const path = [join(folder, 'bin'), join(process.execPath, '..'), process.env.PATH].join(':');
  return { folder, env: { ...inherited('HOME'), PATH: path, CURL_HOME: folder } };
}

/** @returns the names of what lies in the repository that the commands are typed in */
export const namesIn = async ({ folder }: Desk): Promise<string[]> => (await readdir(folder)).sort();

/** One page from its first block to its last. Variables live as long as the page. */
export class Reader {
  readonly #desk: Desk;
  readonly #state: string;
  /** What stands in the page for what the service made: ids. */
  readonly #actual = new Map<string, string>();
  /** Of the processes of each command, which may go on after it. */
  readonly #groups: number[] = [];

  constructor(desk: Desk, name: string) {
    this.#desk = desk;
    this.#state = join(desk.folder, '..', `variables-${name.replace(/\W/g, '-')}`);
  }

  /** @throws Error with what was printed where a command fails, or does not show what the page says */
  async type(block: Block): Promise<void> {
    let printed = '';
    for (const { command, output } of commandsOf(block)) {
      const until = Date.now() + LIMIT_MS;
      for (;;) {
        const result = await this.#run(this.#translate(command), until);
        if (result.code !== 0) throw new Error(`${command}\nended with ${result.code} and printed:\n${result.output}`);
        const missing = this.#compare(output, result.output);
        printed += result.output;
        if (missing === undefined) break;
        if (!LATER.test(command) || Date.now() > until) {
          throw new Error(`${command}\ndid not print "${missing}", but:\n${result.output}`);
        }
      }
    }
    for (const words of block.shows) {
      if (!printed.includes(words)) throw new Error(`${block.text}\ndid not show "${words}", but:\n${printed}`);
    }
  }

  /** Ends what the page has left running, such as a receiver: the port is wanted again. */
  end(): void {
    for (const group of this.#groups) {
      try {
        process.kill(-group, 'SIGKILL');
      } catch {
        // Nothing of it runs any more.
      }
    }
  }

  async #run(command: string, until: number): Promise<{ code: number | string; output: string }> {
    const names = [...command.matchAll(/^(?:export )?([A-Z][A-Z_]*)=/gm)].map(([, name]) => present(name));
    const script = [
      'set -euo pipefail',
      `touch ${this.#state}; . ${this.#state}`,
      command,
      ...names.map((name) => `declare -p ${name} >> ${this.#state} 2>/dev/null || true`),
    ].join('\n');
    const { folder, env } = this.#desk;
    const shell = spawn('bash', ['-c', script], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.#groups.push(present(shell.pid));
    let output = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const timer = setTimeout(() => process.kill(-present(shell.pid), 'SIGKILL'), Math.max(1, until - Date.now()));
    const [code, signal] = (await once(shell, 'close')) as [number | null, string | null];
    clearTimeout(timer);
    return { code: code ?? `${signal} (after ${LIMIT_MS / 1_000} s at the latest)`, output };
  }

  #translate(command: string): string {
    return [...this.#actual].reduce((text, [shown, actual]) => text.replaceAll(shown, actual), command);
  }

  /** @returns the first line that was not printed. Numbers and addresses are others each time; ids are learned. */
  #compare(expected: readonly string[], output: string): string | undefined {
    const lines = output.split('\n').map((line) => line.replace(/\s+$/, ''));
    for (const line of expected) {
      const { pattern, ids } = patternOf(line);
      const match = lines.map((printed) => pattern.exec(printed)).find((found) => found !== null);
      if (!match) return line;
      ids.forEach((id, i) => this.#actual.set(id, itemAt(match, i + 1)));
    }
    return undefined;
  }
}

/** A line with its ids (`write-it-down-543176`, UUIDs) as groups, and any number where it has a number. */
export function patternOf(line: string): { pattern: RegExp; ids: string[] } {
  const ids: string[] = [];
  const parts = line.trimEnd().split(/(\b[a-z][a-z-]*-[0-9a-f]{6}\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)/);
  const source = parts.map((part, i) => {
    if (i % 2 === 0)
      return escaped(part)
        .replace(/\d+(?:(?:\\\.|:)\d+)*/g, '[\\d.:]+')
        .replace(/ {2,}/g, ' +');
    ids.push(part);
    return '([\\w-]+)';
  });
  return { pattern: new RegExp(`^${source.join('')}$`), ids };
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
