/**
 * Builds the console: `node console/build.mjs <folder>`. Each file is also written as Brotli and gzip, so that nothing
 * is compressed while somebody waits. The folder is replaced once all of it has been built.
 */
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';

const folder = resolve(process.argv[2] ?? fileURLToPath(new URL('../.cache/console', import.meta.url)));
const unfinished = `${folder}.${process.pid}`;
const before = `${folder}.${process.pid}.before`;

try {
  await build({
    root: fileURLToPath(new URL('.', import.meta.url)),
    mode: 'production',
    logLevel: 'error',
    build: { outDir: unfinished },
  });
  const assets = join(unfinished, 'assets');
  for (const name of readdirSync(assets)) {
    if (!/\.(js|css|svg)$/.test(name)) continue;
    const bytes = readFileSync(join(assets, name));
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
    writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }));
    writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  }
  move(folder, before);
  renameSync(unfinished, folder);
} finally {
  for (const leftover of [unfinished, before]) rmSync(leftover, { recursive: true, force: true });
}

function move(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}
