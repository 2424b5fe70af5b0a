import { describe, expect, test } from '@jest/globals';
import { first, present } from '../../../src/platform/core/present.ts';
import { EFFECTS } from '../../../src/resources/runs/model.ts';
import { schemaProblem, checkArguments } from '../../../src/resources/tools/arguments.ts';
import { builtinToolsOf } from '../../../src/resources/tools/builtin/index.ts';
import { SpawnRunArguments } from '../../../src/resources/tools/builtin/spawn-run.ts';
import { effectOf, ToolError, type Tool } from '../../../src/resources/tools/model.ts';
import { describedTools as builtin } from '../../support/service/builtin-tools.ts';
import { createToolContext } from './tool-context.ts';
import { cpuMsOf } from '../../support/observability/effort.ts';

const tool = (slug: string): Tool => present(builtin.all.find((one) => one.slug === slug));
const calculate = (expression: string) => tool('calculator').execute({ expression }, createToolContext().context);

// Guards: the built-in tools have the slugs that agents are configured with.
test('ships its tools under their slugs', async () => {
  expect(builtin.all.map(({ slug, module }) => [slug, module])).toEqual(
    [
      'web.http_request',
      'general.calculator',
      'general.current_time',
      'agents.spawn_run',
      'files.save_artifact',
      'projects.read_artifact',
      'projects.read_attachment',
      'skills.load_skill',
      'memory.memory_search',
      'memory.memory_write',
      'people.ask_human',
      'people.await_submission',
      'projects.pipeline_resolve_webhook_gate',
    ].map((path) => [path.split('.')[1], `app.tools.${path}`]),
  );
  expect(await builtin.find('acme', ['calculator', 'unknown'])).toEqual([tool('calculator')]);
  expect(() => builtinToolsOf([tool('calculator'), tool('calculator')])).toThrow('the same slug');
});

// Guards: every built-in tool follows the rules for custom ones: a model can be shown it, and its calls can be checked.
test.each(builtin.all.map((one) => [one.slug, one] as const))('%s is well described', async (slug, one) => {
  expect(slug).toMatch(/^[a-z][a-z_]{1,63}$/);
  expect(one.description.length).toBeGreaterThan(80);
  expect(one.parameters).toMatchObject({ type: 'object', additionalProperties: false });
  expect(await schemaProblem(one.parameters)).toBeUndefined();
  expect(EFFECTS).toContain(effectOf(one, {}));
  expect(await checkArguments(one, { surprise: 1 })).toContain('surprise');
});

// Guards: a tool that is called without the check still refuses what it does not understand.
test('parses its arguments itself', async () => {
  await expect(tool('calculator').execute({ expression: 7 }, createToolContext().context)).rejects.toThrow(ToolError);
});

describe('calculator', () => {
  // Guards: decimals, precedence and functions as a person expects them.
  test.each([
    ['1 + 2 * 3', '7'],
    ['0.1 + 0.2', '0.3'],
    ['1/3*3', '1'],
    ['-2^2', '-4'],
    ['(-2)^2', '4'],
    ['2^3^2', '512'],
    ['2 * -3 ** 2', '-18'],
    ['2^-2', '0.25'],
    ['2^64 + 1', '18446744073709551617'],
    ['10 % 4', '2'],
    ['1.5e3 / 2', '750'],
    ['19.99 * 3 * 1.2', '71.964'],
    ['sqrt(2)^2', '2'],
    ['round(2.345, 2)', '2.35'],
    ['log(8, 2) + log10(100) + ln(e)', '6'],
    ['max(1, min(5, 3), abs(-2))', '3'],
    ['factorial(25)', '15511210043330985984000000'],
    ['sin(pi / 6)', '0.5'],
  ])('%s = %s', async (expression, result) => {
    expect(await calculate(expression)).toEqual({ result });
  });

  // Guards: an expression reaches no property, object or code.
  test.each([
    'constructor',
    'constructor.constructor("return process")()',
    '(1).constructor',
    'sqrt.constructor("return 1")()',
    '__proto__',
    'toString()',
    'hasOwnProperty(1)',
    'this',
    'process.exit(1)',
    'import("fs")',
    '"a" + 1',
    '[1][0]',
    'a = 1',
    '1; 2',
    '(1, 2)',
    '1 ? 2 : 3',
    '() => 1',
    '`x`',
    '',
    '()',
    '1 +',
    '1,000',
    '0x10',
    'sqrt()',
    'sqrt(1, 2)',
    'factorial(1.5)',
    'factorial(1000)',
    '1 / 0',
    '0 / 0',
    'sqrt(-1)',
  ])('refuses %s', async (expression) => {
    await expect(calculate(expression)).rejects.toThrow(ToolError);
  });

  // Guards: the largest possible expressions do not hold up the worker.
  test.each([
    '9**9**9**9',
    '9^9^9^9^9^9^9',
    '1.0000000001^(10^18)',
    '0.9999999^(10^299)',
    'atan(10^299)',
    'cos(-10^299) * sin(10^298)',
    'exp(10^200)',
    'ln(10^-299)',
    'log(10^299, 1.0000000001)',
    `${'('.repeat(490)}1${')'.repeat(490)}`,
    '-'.repeat(999) + '1',
    Array.from({ length: 90 }, () => '9.9^9.99').join('*'),
  ])('answers %s at once', async (expression) => {
    const took = await cpuMsOf(() =>
      calculate(expression).catch((error: unknown) => expect(error).toBeInstanceOf(ToolError)),
    );
    expect(took).toBeLessThan(1_000);
  });
});

describe('current_time', () => {
  const timeIn = (args: object) => tool('current_time').execute(args, createToolContext().context);

  // Guards: the time is that of the run's clock, with the offset of the zone on that day.
  test.each([
    [{}, '2026-07-01T22:30:15+00:00', 'Wednesday'],
    [{ timezone: 'Europe/Paris' }, '2026-07-02T00:30:15+02:00', 'Thursday'],
    [{ timezone: 'America/New_York' }, '2026-07-01T18:30:15-04:00', 'Wednesday'],
    [{ timezone: 'Asia/Kolkata' }, '2026-07-02T04:00:15+05:30', 'Thursday'],
  ])('%j', async (args, local, weekday) => {
    expect(await timeIn(args)).toEqual({
      utc: '2026-07-01T22:30:15.250Z',
      timezone: 'UTC',
      ...args,
      local,
      weekday,
    });
  });

  // Guards: the model is told which zone was wrong.
  test('refuses an unknown zone', async () => {
    await expect(timeIn({ timezone: 'Mars/Olympus' })).rejects.toThrow(
      new ToolError('unknown time zone Mars/Olympus: give an IANA name such as Europe/Paris or America/New_York'),
    );
  });
});

describe('save_artifact', () => {
  // Guards: a saved file has a plain name and the size that the model is told.
  test.each([
    ['report.md', 'report.md', 'text/markdown'],
    ['../../etc/passwd', 'passwd', 'text/plain'],
    ['C:\\temp\\chart.SVG', 'chart.SVG', 'image/svg+xml'],
    ['..hidden.json ', 'hidden.json', 'application/json'],
    ['a\u0000\n"b".csv', 'ab.csv', 'text/csv'],
    ['\u202Efdp.html', 'fdp.html', 'text/html'],
    ['x.constructor', 'x.constructor', 'text/plain'],
  ])('saves %j as %s', async (filename, expected, contentType) => {
    const { context, artifacts } = createToolContext();
    const answer = await tool('save_artifact').execute({ filename, content: 'héllo' }, context);
    expect(answer).toEqual({ artifact_id: 'artifact-1', filename: expected, size_bytes: 6 });
    expect(artifacts).toEqual([{ filename: expected, contentType, bytes: Buffer.from('héllo') }]);
  });

  // Guards: impossible file names are refused, and limits hold.
  test('refuses what it cannot store', async () => {
    const { context, artifacts } = createToolContext();
    const save = (args: object) => tool('save_artifact').execute({ filename: 'a.txt', content: 'x', ...args }, context);
    for (const filename of ['', '..', 'a/', '///', '\n']) await expect(save({ filename })).rejects.toThrow(ToolError);
    await expect(save({ content: 'é'.repeat(600_000) })).rejects.toThrow(/1200000 bytes/);
    await expect(save({ content_type: 'text/html\r\nX: y' })).rejects.toThrow(ToolError);
    expect(artifacts).toEqual([]);

    await save({ filename: `${'n'.repeat(500)}.md`, content: 'x'.repeat(1_024 * 1_024), content_type: 'text/x-own' });
    expect(first(artifacts).filename).toMatch(/^n{60}\.md$/);
    expect(first(artifacts).contentType).toBe('text/x-own');
  });
});

// Guards: only the workflow starts a child run, with what the model asked for.
test('spawn_run is left to the workflow', async () => {
  expect(tool('spawn_run').dispatch).toBe('child_run');
  expect(SpawnRunArguments.parse({ agent: 'writer', prompt: 'Write.' })).toEqual({
    agent: 'writer',
    prompt: 'Write.',
    wait: true,
  });
  await expect(
    tool('spawn_run').execute({ agent: 'writer', prompt: 'Write.' }, createToolContext().context),
  ).rejects.toThrow('by the workflow');
});
