/**
 * Notes which packages a process loads, each once, in the file that the query of this module's address names; it is loaded by
 * `node --import`.
 */
import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

const file = fileURLToPath(new URL(import.meta.url).searchParams.get('to'));
const noted = new Set();

registerHooks({
  load(url, context, next) {
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
    const own = /\/(src\/(?:cli|embedded)\/.*)$/.exec(url)?.[1];
    const what = name ?? own;
    if (what && !noted.has(what)) {
      noted.add(what);
      appendFileSync(file, `${what}\n`);
    }
    return next(url, context);
  },
});
