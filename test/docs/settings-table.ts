/** The table of settings in `docs/configuration.md`, made of their declaration. `npm run docs:settings` writes it. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { settings } from '../../src/platform/core/settings.ts';

const PAGE = fileURLToPath(new URL('../../docs/configuration.md', import.meta.url));
const TABLE = /(<!-- settings -->\n)[\s\S]*?(<!-- \/settings -->)/;

export async function settingsTable(): Promise<{ current: string; wanted: string }> {
  const page = await readFile(PAGE, 'utf8');
  return {
    current: page,
    wanted: page.replace(TABLE, (_, begin: string, end: string) => `${begin}\n${rows()}\n\n${end}`),
  };
}

function rows(): string {
  const schema = z.toJSONSchema(settings, { io: 'input', unrepresentable: 'any' });
  const required = new Set(schema.required ?? []);
  const properties = Object.entries(schema.properties ?? {}) as [string, { description?: string; default?: unknown }][];
  return [
    '| Setting | Default | What it does |',
    '|---|---|---|',
    ...properties.map(([name, { description, default: fallback }]) => {
      const shown =
        fallback === undefined || fallback === ''
          ? required.has(name)
            ? 'made in embedded mode'
            : ''
          : `\`${String(fallback)}\``;
      return `| \`${name}\` | ${shown} | ${description ?? ''} |`;
    }),
  ].join('\n');
}

if (import.meta.main) await writeFile(PAGE, (await settingsTable()).wanted);
