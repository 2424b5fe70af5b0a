import { expect, test } from '@jest/globals';
import { categoryOf, type Tool, type ToolSource } from '../../../src/resources/tools/model.ts';
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

// Guards: a later source cannot replace a tool of an earlier one, and each source is asked once.
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

// Guards: a run with built-in tools alone needs no query.
test('asks no further source than it must', async () => {
  const builtin = source('app', 'calculator');
  const custom = source('(db)');
  const registry = createToolRegistry([builtin, custom]);
  expect(await registry.get('acme', 'calculator')).toMatchObject({ module: 'app' });
  expect(await registry.find('acme', [])).toEqual([]);
  expect(custom.asked).toEqual([]);
  expect(await registry.get('acme', 'none')).toBeUndefined();
});

// Guards: the list shows the tool that a slug means; one of a later source under a taken slug is hidden.
test('lists what can be found', async () => {
  const tools = (...slugs: string[]) => slugs.map((slug) => ({ slug }) as Tool);
  const listing = (module: string, ...slugs: string[]): ToolSource => ({
    ...source(module, ...slugs),
    list: async (customerId) => tools(...slugs).map((tool) => ({ ...tool, module: `${module} of ${customerId}` })),
  });
  const registry = createToolRegistry([listing('app', 'a', 'b'), source('(db)', 'c'), listing('mcp', 'b', 'd')]);
  expect((await registry.list('acme')).map(({ slug, module }) => [slug, module])).toEqual([
    ['a', 'app of acme'],
    ['b', 'app of acme'],
    ['d', 'mcp of acme'],
  ]);
});

// Guards: the list groups tools by their source.
test.each([
  ['app.tools.memory.memory_search', 'memory'],
  ['app.tools.old', 'general'],
  ['mcp.github', 'mcp'],
  ['(db)', 'custom'],
])('%s is of category %s', (module, category) => {
  expect(categoryOf(module)).toBe(category);
});
