import type { Tool, ToolSource } from '../../../src/resources/tools/model.ts';
import { createToolRegistry } from '../../../src/resources/tools/registry.ts';

const source = (module: string, ...slugs: string[]): ToolSource & { asked: string[][] } => {
  const asked: string[][] = [];
  return {
    asked,
    async find(customerId, wanted) {
      asked.push([customerId, ...wanted]);
      return slugs.filter((slug) => wanted.includes(slug)).map((slug) => ({ slug, module }) as Tool);
    },
  };
};

// Guards: nobody can put another tool under a slug of an earlier source, and each source is asked once.
test('takes each tool from the first source that has it', async () => {
  const builtin = source('app', 'calculator', 'http_request');
  const custom = source('(db)', 'calculator', 'greet');
  const mcp = source('mcp', 'greet', 'mcp.x.y');
  const registry = createToolRegistry([builtin, custom, mcp]);

  const found = await registry.find('acme', ['greet', 'calculator', 'none', 'greet', 'mcp.x.y']);
  expect(found.map(({ slug, module }) => [slug, module])).toEqual([
    ['greet', '(db)'],
    ['calculator', 'app'],
    ['mcp.x.y', 'mcp'],
  ]);
  expect(builtin.asked).toEqual([['acme', 'greet', 'calculator', 'none', 'mcp.x.y']]);
  expect(custom.asked).toEqual([['acme', 'greet', 'none', 'mcp.x.y']]);
  expect(mcp.asked).toEqual([['acme', 'none', 'mcp.x.y']]);
});

// Guards: a run with built-in tools alone costs no query.
test('asks no further source than it must', async () => {
  const builtin = source('app', 'calculator');
  const custom = source('(db)');
  const registry = createToolRegistry([builtin, custom]);
  expect(await registry.get('acme', 'calculator')).toMatchObject({ module: 'app' });
  expect(await registry.find('acme', [])).toEqual([]);
  expect(custom.asked).toEqual([]);
  expect(await registry.get('acme', 'none')).toBeUndefined();
});
