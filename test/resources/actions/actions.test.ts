/** What every built-in action keeps to: it refuses with a reason, makes files that open, and lets nothing run in them. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { present } from '../../../src/platform/core/present.ts';
import { ActionError } from '../../../src/resources/actions/builtin/action.ts';
import { ACTIONS, findAction } from '../../../src/resources/actions/builtin/index.ts';
import { CASES, parseHtml, parseXml, renderFile, runAction, textIn } from './context.ts';

const HOSTILE = `</script></style></title><script>alert(1)</script>"'><img src=x onerror=alert(1)><svg onload=alert(1)>]]>&amp;&#0;\u0000\u0007\uffff\ud800`;
/** What an action decides by, rather than shows. */
const SETTINGS = new Set(['kind', 'shape', 'motion', 'path', 'content_type', 'format', 'call_to_action_url']);

function hostile(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return SETTINGS.has(key) ? value : `${value} ${HOSTILE}`;
  if (Array.isArray(value)) return value.map((each) => hostile(each, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, hostile(each, name)]));
}

const RENDERING = Object.keys(CASES).filter((name) => !['check_html', 'http_post'].includes(name));

// Guards: the list of actions is complete, names are unique, and no name in a template finds anything by accident.
test('lists every action once', () => {
  const names = ACTIONS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.toSorted()).toEqual(Object.keys(CASES).toSorted());
  for (const { name, description } of ACTIONS) {
    expect(name).toMatch(/^[a-z][a-z_]+$/);
    expect(description.length).toBeGreaterThan(60);
  }
  for (const name of ['__proto__', 'constructor', '']) expect(findAction(name)).toBeUndefined();
});

describe.each(Object.keys(CASES))('%s', (name) => {
  const { given, needs } = present(CASES[name]);

  // Guards: missing material is named in a refusal that is not retried.
  test('says what is missing', async () => {
    const refused = runAction(name, { ...given, inputs: {}, artifacts: {} });
    await expect(refused).rejects.toThrow(ActionError);
    await expect(runAction(name, { ...given, inputs: {}, artifacts: {} })).rejects.toThrow(needs);
    const beside = { inputs: { other: { nothing: 'useful' }, gate: null, list: [1] }, artifacts: {} };
    if (name !== 'http_post') await expect(runAction(name, { ...given, ...beside })).rejects.toThrow(ActionError);
  });

  // Guards: a retried step gives the same artifact.
  test('gives the same again', async () => {
    expect(await runAction(name, given)).toEqual(await runAction(name, given));
  });
});

describe.each(RENDERING)('%s', (name) => {
  const { given } = present(CASES[name]);

  // Guards: the result opens: HTML without errors or faults of the tester, and well-formed SVG.
  test('makes a file that opens', async () => {
    const file = await renderFile(name, given);
    expect(file.filename).toMatch(/^bees-on-roofs\.(html|md|svg)$/);
    if (file.content_type === 'text/html') {
      parseHtml(file.content);
      expect(await runAction('check_html', { inputs: { file } })).toMatchObject({ passed: true });
    } else if (file.content_type === 'image/svg+xml') parseXml(file.content);
    else expect(file.content).toMatch(/^# Bees on roofs\n/);
  });

  // Guards: nothing that a model or a tenant wrote becomes code, markup or an address in the file.
  test('shows hostile text as text', async () => {
    const project = { ...given.project, title: `Bees ${HOSTILE}` };
    const inputs = hostile(given.inputs ?? {}) as Record<string, unknown>;
    const artifacts = hostile(given.artifacts ?? {}) as Record<string, unknown>;
    const { content, content_type, filename } = await renderFile(name, { ...given, project, inputs, artifacts });
    expect(filename).toMatch(/^[a-z0-9-]+\.[a-z]+$/);
    expect(content.isWellFormed()).toBe(true);
    expect(content).not.toMatch(/[\u0000\u0007\uffff]/);
    if (content_type === 'text/markdown') {
      expect(content.replaceAll(/`[^`\n]*`|<a id="[\w-]+"><\/a>/g, '')).not.toContain('<');
      return;
    }
    const elements =
      content_type === 'text/html'
        ? parseHtml(content).map(({ tagName, attrs }) => ({
            name: tagName,
            attributes: Object.fromEntries(attrs.map((attr) => [attr.name, attr.value])),
          }))
        : parseXml(content);
    for (const { name: tag, attributes } of elements) {
      expect(['img', 'iframe', 'object', 'embed', 'foreignObject', 'base', 'form']).not.toContain(tag);
      expect(Object.keys(attributes).filter((each) => each.startsWith('on'))).toEqual([]);
      expect(attributes.href ?? '').not.toMatch(/^\s*javascript:/i);
    }
    const scripts =
      content_type === 'text/html' ? parseHtml(content).filter(({ tagName }) => tagName === 'script') : [];
    const digests = scripts.map((script) => createHash('sha256').update(textIn(script)).digest('base64'));
    for (const digest of digests) expect(content).toContain(`script-src &#39;sha256-${digest}&#39;`);
    expect(scripts.length).toBeLessThanOrEqual(1);
  });
});
