/** Reverse proxies of Debian's packages, with the configurations that docs/operate/reverse-proxy.md shows. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { present } from '../../../src/platform/core/present.ts';
import { endWithUs, removeWithUs } from '../../bench/processes.ts';
import { fencesOf, ROOT } from '../../docs/blocks.ts';
import { quietPort } from '../processes/ports.ts';
import { eventually } from '../service/service.ts';
import { unpackDebianPackage } from './debian-package.ts';

const PROXY_PAGE = 'docs/operate/reverse-proxy.md';

/** @returns the one block of the page in this language, with what stands for an operator's own values replaced */
function shownConfiguration(language: string, values: Readonly<Record<string, string>> = {}): string {
  const page = readFileSync(join(ROOT, PROXY_PAGE), 'utf8');
  const [block, ...others] = fencesOf(page, PROXY_PAGE, ['not-run'], (each) => each === language);
  if (!block || others.length > 0)
    throw new Error(`${PROXY_PAGE} has ${block ? 'several blocks' : 'no block'} in ${language}`);
  return Object.entries(values).reduce((text, [shown, own]) => {
    if (!text.includes(shown)) throw new Error(`${block.name} does not have ${shown}`);
    return text.replaceAll(shown, own);
  }, block.text);
}

interface Given {
  folder: string;
  /** Where it is to listen. */
  port: number;
  certificate: string;
  key: string;
  /** Host and port of two API processes. */
  upstreams: readonly [string, string];
}

interface Kind {
  program: string;
  /** Writes what it reads, and @returns its arguments. */
  configure(given: Given): Promise<string[]>;
}

const PROXIES = {
  nginx: {
    program: 'usr/sbin/nginx',
    async configure({ folder, port, certificate, key, upstreams: [one, two] }) {
      const shown = shownConfiguration('nginx', {
        '10.0.0.11:8080': one,
        '10.0.0.12:8080': two,
        'listen 80;': `listen 127.0.0.1:${await quietPort()};`,
        'listen 443 ': `listen 127.0.0.1:${port} `,
        'example.com': 'localhost',
        '/etc/ssl/aos.pem': certificate,
        '/etc/ssl/aos.key': key,
      });
      const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
        (each) => `${each}_temp_path ${folder}/${each};`,
      );
      // Root's workers would be somebody who may not look into the folder.
      const user = process.getuid?.() === 0 ? 'user root;' : '';
      await writeFile(
        join(folder, 'nginx.conf'),
        `daemon off; worker_processes 2; ${user} pid ${folder}/pid; events {}\nhttp { access_log off; ${kept.join(' ')}\n${shown}\n}\n`,
      );
      return ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')];
    },
  },
  caddy: {
    program: 'usr/bin/caddy',
    async configure({ folder, port, certificate, key, upstreams: [one, two] }) {
      const shown = shownConfiguration('caddyfile', {
        '10.0.0.11:8080': one,
        '10.0.0.12:8080': two,
        'example.com {': `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
      });
      const file = join(folder, 'Caddyfile');
      await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${shown}\n`);
      return ['run', '--config', file, '--adapter', 'caddyfile'];
    },
  },
} satisfies Record<string, Kind>;

/** Also that of its package. */
export type ProxyName = keyof typeof PROXIES;

export interface ReverseProxy {
  /** Its address, `https://localhost:<port>`. */
  url: string;
  /** All that it has logged. */
  log(): string;
  close(): Promise<void>;
}

export async function startReverseProxy(name: ProxyName, given: Omit<Given, 'folder'>): Promise<ReverseProxy> {
  const folder = await mkdtemp(join(tmpdir(), `aos-${name}-`));
  removeWithUs(folder);
  const { program, configure } = PROXIES[name];
  const args = await configure({ ...given, folder });
  const child = spawn(join(await unpackDebianPackage(name), program), args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { HOME: folder },
  });
  endWithUs(present(child.pid));
  const ended = once(child, 'close');
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  await eventually(async () => {
    if (child.exitCode !== null) return;
    const socket = connect(given.port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
  if (child.exitCode !== null) throw new Error(`${name} does not start: ${log}`);
  return {
    url: `https://localhost:${given.port}`,
    log: () => log,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Makes a certificate of `localhost` that nobody else trusts. @throws Error where there is no openssl */
export async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, 'localhost.pem'), join(folder, 'localhost.key')];
  const made = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const named = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  await promisify(execFile)('openssl', [...made, ...named, '-keyout', key, '-out', certificate]);
  return { certificate, key };
}
