/** What halves the time that a process of ours takes to start, as its environment. */
import { fileURLToPath } from 'node:url';

const IMPORTS = new URL('../quick-imports.mjs', import.meta.url).href;
const COMPILED = fileURLToPath(new URL('../../.cache/compiled', import.meta.url));

export const quickStart = ({ NODE_COMPILE_CACHE, NODE_OPTIONS }) => ({
  // Compiled and type-stripped modules are kept.
  NODE_COMPILE_CACHE: NODE_COMPILE_CACHE ?? COMPILED,
  NODE_OPTIONS: NODE_OPTIONS?.includes(IMPORTS)
    ? NODE_OPTIONS
    : [NODE_OPTIONS, `--import=${IMPORTS}`].filter(Boolean).join(' '),
});
