/** Gives environment variables that halve the time that one of our processes takes to start. */
import { fileURLToPath } from 'node:url';

const IMPORTS = new URL('../quick-imports.mjs', import.meta.url).href;
const COMPILED = fileURLToPath(new URL('../../.cache/compiled', import.meta.url));

export const quickStart = ({ NODE_COMPILE_CACHE, NODE_OPTIONS }) => ({
  // Node keeps compiled and type-stripped modules here.
  NODE_COMPILE_CACHE: NODE_COMPILE_CACHE ?? COMPILED,
  NODE_OPTIONS: NODE_OPTIONS?.includes(IMPORTS)
    ? NODE_OPTIONS
    : [NODE_OPTIONS, `--import=${IMPORTS}`].filter(Boolean).join(' '),
});
