/** What a workflow spec may say, and how its author learns what it may not. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { itemAt, present } from '../../../src/platform/core/present.ts';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { orderPhases, stepDependencies, type WorkflowSpec } from '../../../src/resources/templates/model.ts';
import { checkSpec, parseSpec } from '../../../src/resources/templates/spec.ts';
import { gate, phase, spec, step } from './specs.ts';

function parse(given: unknown): WorkflowSpec {
  const checked = checkSpec(given as Record<string, unknown>);
  if ('faults' in checked) throw new Error(checked.faults.join('; '));
  return checked.spec;
}

function faultsOf(given: unknown): string {
  const checked = checkSpec(given as Record<string, unknown>);
  return 'faults' in checked ? checked.faults.join('; ') : '';
}

// Guards: a wrong spec is refused with the reason, whether it is checked here or, for a large one, in a thread.
test.each([1, 200])('a wrong spec is a bad request, with a phase of %i steps', async (count) => {
  const wrong = spec({
    phases: [phase('p', { steps: Array.from({ length: count }, (_, at) => step(`s${at}`, { assignee: '' })) })],
  });
  await expect(parseSpec(wrong as unknown as Record<string, unknown>)).rejects.toMatchObject({
    code: 'bad_request',
    message: expect.stringMatching(/^invalid spec: .*phases\[0\]\.steps/),
  });
});

const reviewed = (more: object) => spec({ phases: [phase('draft', { steps: [step('write'), step('judge', more)] })] });
const steps = (...list: ReturnType<typeof step>[]) => spec({ phases: [phase('draft', { steps: list })] });
const without = (given: object, field: string) =>
  Object.fromEntries(Object.entries(given).filter(([key]) => key !== field));
const object = (properties: object) => ({ type: 'object', properties });

// Guards: every field of the shape is accepted, and absent ones have their documented defaults.
test('takes a full spec and fills in what is not said', () => {
  const full = spec({
    description: 'Once a week.',
    params: { type: 'object', required: ['topic'], properties: { topic: { type: 'string' } } },
    phases: [
      phase('draft', {
        cascade_on_upstream_change: 'strict',
        artifact: { schema_slug: 'markdown', json_schema: { type: 'string' } },
        cost_budget_usd: '1.5',
        steps: [
          step('write', {
            title: 'Write',
            instructions: 'Write it.',
            output_schema: { type: 'string' },
            max_attempts: 5,
          }),
          step('count', { kind: 'action', role: 'utility', assignee: 'save_file', tools: [], timeout_s: 60 }),
          step('judge', {
            role: 'reviewer',
            depends_on: ['write'],
            output_schema: object({ approved: { type: 'boolean' } }),
          }),
          step('try', { role: 'tester', skills: ['proofreading'] }),
          gate('approve', { gate_config: { prompt: 'Good?', on_reject: 'rework' } }),
        ],
      }),
      phase('send', { depends_on: ['draft'] }),
    ],
  });
  expect(parse(full)).toEqual(full);
  const bare = { step_slug: 'a', kind: 'agent', assignee: 'writer' };
  const first = itemAt(
    parse(spec({ phases: [phase('p', { steps: [bare, without(gate('g'), 'role')] as never })] })).phases,
    0,
  );
  expect(first.steps.map(({ role }) => role)).toEqual(['producer', 'gatekeeper']);
});

// Guards: an amount of money has one form, as everywhere else.
test.each([
  ['2.50', '2.5'],
  ['007', '7'],
  ['0.00000001', '0.00000001'],
  ['10.00', '10'],
  [100, '100'],
  [0.1, '0.1'],
  [1e-8, '0.00000001'],
])('a budget of %p is %s', (given, wanted) => {
  const first = itemAt(parse(spec({ phases: [phase('p', { cost_budget_usd: given as string })] })).phases, 0);
  expect(first.cost_budget_usd).toBe(wanted);
});

describe('says what is wrong and where', () => {
  const budget = 'phases[0].cost_budget_usd: must be a positive amount in US dollars';
  const judge = 'phases[0].steps[1].output_schema: a reviewer says so';
  // Guards: each rule, with its path and reason.
  test.each<[string, unknown, string]>([
    ['nothing', {}, 'slug: Invalid input'],
    ['no phases', spec({ phases: [] }), 'phases: Too small'],
    ['no steps', spec({ phases: [phase('p', { steps: [] })] }), 'phases[0].steps: Too small'],
    ['a phase that is none', spec({ phases: [7] as never }), 'phases[0]: Invalid input'],
    ['phases that are none', { ...spec(), phases: 'x' }, 'phases: Invalid input'],
    ['an unknown key', { ...spec(), owner: 'me' }, 'owner: Unknown field; known are slug, version'],
    [
      'an unknown key in a step',
      steps(step('a', { instruction: '' } as never)),
      'phases[0].steps[0].instruction: Unknown field; did you mean "instructions"?',
    ],
    ['a bad slug', spec({ slug: 'My Flow' }), 'slug: must be lower-case letters'],
    ['a long slug', spec({ slug: 'x'.repeat(65) }), 'slug: Too big'],
    [
      'a reserved phase',
      spec({ phases: [phase('edit-session-1')] }),
      'phases[0].slug: must not begin with edit-session-',
    ],
    ['a blank title', spec({ title: '  ' }), 'title: must not be blank'],
    ['a long title', spec({ title: 'x'.repeat(201) }), 'title: Too big'],
    ['version 0', spec({ version: 0 }), 'version: Too small'],
    ['a version beyond the column', spec({ version: 2 ** 31 }), 'version: Too big'],
    ['long instructions', steps(step('a', { instructions: 'x'.repeat(20_001) })), 'phases[0].steps[0].instructions'],
    ['no attempts', steps(step('a', { max_attempts: 0 })), 'phases[0].steps[0].max_attempts: Too small'],
    ['many attempts', steps(step('a', { max_attempts: 21 })), 'phases[0].steps[0].max_attempts: Too big'],
    ['a timeout over a day', steps(step('a', { timeout_s: 86_401 })), 'phases[0].steps[0].timeout_s: Too big'],
    ['a budget of nothing', spec({ phases: [phase('p', { cost_budget_usd: '0.00' })] }), budget],
    ['a budget below what is kept', spec({ phases: [phase('p', { cost_budget_usd: 1e-9 as never })] }), budget],
    ['a budget with exponent', spec({ phases: [phase('p', { cost_budget_usd: '1e3' })] }), budget],
    ['a huge budget', spec({ phases: [phase('p', { cost_budget_usd: 1e300 as never })] }), budget],
    ['an agent step without agent', steps(step('a', { assignee: undefined })), 'needs an assignee (agent slug)'],
    [
      'an action without name',
      steps(step('a', { kind: 'action', assignee: undefined })),
      'needs an assignee (name of a',
    ],
    [
      'a gate without kind',
      steps(gate('a', { gate_kind: undefined })),
      'gate_kind: a gate needs one of human, webhook',
    ],
    ['a gate that produces', steps(gate('a', { role: 'producer' })), 'role: the role of a gate is gatekeeper'],
    ['an agent with a gate kind', steps(step('a', { gate_kind: 'human' })), 'gate_kind: only a gate has one'],
    ['an agent with a gate config', steps(step('a', { gate_config: {} })), 'gate_config: only a gate has one'],
    ['a gate config that is none', steps(gate('a', { gate_config: 'soon' as never })), 'gate_config: Invalid input'],
    ...[
      [{ approvers: {} }, 'approvers: names nobody'],
      [{ approvers: { members: ['ana'] } }, 'approvers.members[0]: Invalid email address'],
      [{ approvers: { roles: ['king'] } }, 'approvers.roles[0]: Invalid option'],
      [{ approvers: { members: ['a@b.example'] }, quorum: 2 }, 'quorum: of 2, and only 1 are named'],
      [{ quorum: 0 }, 'quorum: Too small'],
      [{ due_in_s: -1 }, 'due_in_s: Too small'],
      [{ on_timeout: 'approve' }, 'on_timeout: needs due_in_s'],
      [{ escalate_to: { roles: ['owner'] } }, 'escalate_to: needs due_in_s'],
      [{ due_in_s: 5, on_timeout: 'shrug' }, 'on_timeout: Invalid option'],
    ].map(
      ([config, fault]) =>
        [
          `a gate of people with ${JSON.stringify(config)}`,
          steps(gate('a', { gate_config: config as never })),
          `phases[0].steps[0].gate_config.${fault as string}`,
        ] as [string, unknown, string],
    ),
    [
      'a webhook gate of people',
      steps(gate('a', { gate_kind: 'webhook', gate_config: { quorum: 2 } })),
      'gate_config.quorum: only a human gate has one',
    ],
    ['a review without decision', reviewed({ role: 'reviewer', output_schema: object({ text: {} }) }), judge],
    [
      'a decision of two other words',
      reviewed({ role: 'reviewer', output_schema: object({ decision: { enum: ['yes'] } }) }),
      judge,
    ],
    ['a test without verdict', reviewed({ role: 'tester', output_schema: object({}) }), 'a boolean property `passed`'],
    [
      'a schema that is none',
      steps(step('a', { output_schema: { type: 'strnig' } })),
      'output_schema: the schema is not valid',
    ],
    [
      'an artifact schema',
      spec({ phases: [phase('p', { artifact: { schema_slug: 's', json_schema: { $ref: 'http://x' } } })] }),
      'phases[0].artifact.json_schema: the schema refers to http://x',
    ],
    ['params that are no object', spec({ params: { type: 'string' } }), 'params: the schema is not of type object'],
    ['201 phases', spec({ phases: Array.from({ length: 201 }, (_, at) => phase(`p${at}`)) }), 'phases: Too big'],
    ['51 steps', steps(...Array.from({ length: 51 }, (_, at) => step(`s${at}`))), 'phases[0].steps: Too big'],
    [
      'two phases of one slug',
      spec({ phases: [phase('a'), phase('a')] }),
      'phases[1].slug: there is another phase "a"',
    ],
    ['two steps of one slug', steps(step('a'), step('a')), 'phases[0].steps[1].step_slug: there is another step "a"'],
    [
      'an unknown phase',
      spec({ phases: [phase('a'), phase('b', { depends_on: ['a', 'x'] })] }),
      'phases[1].depends_on[1]: unknown phase "x"; the phases are a, b',
    ],
    [
      'an unknown step',
      steps(step('a'), step('b', { depends_on: ['x'] })),
      'phases[0].steps[1].depends_on[0]: unknown step "x"; the steps of this phase are a, b',
    ],
    [
      'a step of another phase',
      spec({ phases: [phase('p', { steps: [step('a')] }), phase('q', { steps: [step('b', { depends_on: ['a'] })] })] }),
      'phases[1].steps[0].depends_on[0]: unknown step "a"',
    ],
    [
      'a phase after itself',
      spec({ phases: [phase('a', { depends_on: ['a'] })] }),
      'phases[0].depends_on[0]: the phase "a" depends on itself',
    ],
    [
      'a step after itself',
      steps(step('a', { depends_on: ['a'] })),
      'phases[0].steps[0].depends_on[0]: the step "a" depends on itself',
    ],
    [
      'phases in a circle',
      spec({ phases: [phase('a', { depends_on: ['b'] }), phase('b', { depends_on: ['a'] })] }),
      'phases: they wait for each other: a -> b -> a',
    ],
    [
      'steps in a circle by default',
      steps(step('a', { depends_on: ['b'] }), step('b')),
      'phases[0].steps: they wait for each other: a -> b -> a',
    ],
    [
      'a judge of nothing',
      steps(step('a', { role: 'reviewer' })),
      'phases[0].steps[0]: a reviewer needs a producer or assembler step upstream',
    ],
    [
      'a judge beside the work',
      steps(step('a'), step('b', { role: 'tester', depends_on: [] })),
      'phases[0].steps[1]: a tester needs a producer',
    ],
    [
      'a judge of a gate',
      steps(gate('a'), step('b', { role: 'reviewer' })),
      'phases[0].steps[1]: a reviewer needs a producer',
    ],
    [
      'more than 1 MB',
      spec({
        phases: [
          phase('p', {
            steps: Array.from({ length: 50 }, (_, at) => step(`s${at}`, { instructions: 'ü'.repeat(19_999) })),
          }),
        ],
      }),
      'larger than 1048576 bytes',
    ],
  ])('%s', (_, given, wanted) => {
    expect(faultsOf(given)).toContain(wanted);
  });

  // Guards: a judge may come long after the work, with a gate between.
  test('a judge sees through what stands between', () => {
    const list = [step('a'), gate('b'), step('c', { role: 'utility' }), step('d', { role: 'reviewer' })];
    expect(faultsOf(steps(...list))).toBe('');
  });

  // Guards: one answer lists all faults, up to a limit.
  test('tells all at once, up to twenty', () => {
    const wrong = spec({
      title: '',
      phases: [
        phase('a', { depends_on: ['b'], steps: [step('x', { assignee: undefined })] }),
        phase('b', { depends_on: ['a', 'nowhere'] }),
      ],
    });
    const told = faultsOf(wrong);
    for (const what of ['title: ', 'needs an assignee', 'unknown phase "nowhere"', 'a -> b -> a']) {
      expect(told).toContain(what);
    }
    const many = spec({
      phases: Array.from({ length: 30 }, (_, at) => phase(`p${at}`, { depends_on: ['x'.repeat(64)] })),
    });
    expect(faultsOf(many).split('; the phases are')).toHaveLength(21);
    const long = spec({ phases: [{ ...phase('p'), ['k'.repeat(5_000)]: 1 } as never] });
    expect(faultsOf(long).length).toBeLessThan(1_100);
  });

  // Guards: a name such as `constructor` is a name like any other.
  test('names of the language', () => {
    expect(faultsOf({ ...JSON.parse('{"__proto__": {"slug": "x"}}'), ...spec(), constructor: 1 })).toContain(
      'constructor: Unknown field',
    );
    expect(faultsOf(steps(step('constructor', { depends_on: ['tostring'] })))).toContain('unknown step "tostring"');
    const judge = { role: 'reviewer', output_schema: object({ constructor: {} }) };
    expect(faultsOf(reviewed(judge))).toContain('a reviewer says so');
  });
});

/** A graph on p0, p1, ... in which each depends on earlier ones, declared in some other order. */
const graphs = fc
  .integer({ min: 1, max: 25 })
  .chain((size) =>
    fc.record({
      edges: fc.tuple(...Array.from({ length: size }, (_, at) => fc.subarray(Array.from({ length: at }, (_, i) => i)))),
      order: fc.shuffledSubarray(
        Array.from({ length: size }, (_, at) => at),
        { minLength: size },
      ),
    }),
  )
  .map(({ edges, order }) =>
    order.map((at) => ({ slug: `p${at}`, depends_on: itemAt(edges, at).map((on) => `p${on}`) })),
  );

describe('graphs', () => {
  const asPhases = (nodes: { slug: string; depends_on: string[] }[]) =>
    spec({ phases: nodes.map(({ slug, depends_on }) => phase(slug, { depends_on })) });
  const asSteps = (nodes: { slug: string; depends_on: string[] }[]) =>
    steps(...nodes.map(({ slug, depends_on }) => step(slug, { depends_on })));

  // Guards: a graph without a circle is accepted, and ordered so that everything comes after what it depends on.
  test('without a circle are taken', () => {
    fc.assert(
      fc.property(graphs, (nodes) => {
        expect(faultsOf(asSteps(nodes))).toBe('');
        const ordered = orderPhases(parse(asPhases(nodes)));
        expect(ordered.map(({ slug }) => slug).sort()).toEqual(nodes.map(({ slug }) => slug).sort());
        const place = new Map(ordered.map(({ slug }, at) => [slug, at]));
        for (const { slug, depends_on = [] } of ordered) {
          for (const before of depends_on) expect(place.get(before)).toBeLessThan(present(place.get(slug)));
        }
      }),
      { numRuns: 60 },
    );
  });

  // Guards: a circle is always refused, and the refusal names a real one: each phase depends on the next.
  test('with a circle are refused', () => {
    const withCircle = fc.tuple(graphs, fc.nat(), fc.nat()).map(([nodes, from, to]) => {
      const sorted = [...nodes].sort((a, b) => Number(a.slug.slice(1)) - Number(b.slug.slice(1)));
      const [low, high] = [from % nodes.length, to % nodes.length].sort((a, b) => a - b) as [number, number];
      // A way from high down to low, and one edge back.
      for (let at = low + 1; at <= high; at++) itemAt(sorted, at).depends_on.push(`p${at - 1}`);
      itemAt(sorted, low).depends_on.push(`p${high}`);
      return nodes;
    });
    fc.assert(
      fc.property(withCircle, (nodes) => {
        for (const made of [asPhases(nodes), asSteps(nodes)]) {
          const told = faultsOf(made);
          const itself = /"(p\d+)" depends on itself/.exec(told)?.[1];
          const circle = /they wait for each other: ([^;]*)/.exec(told)?.[1]?.split(' -> ') ?? [
            present(itself),
            present(itself),
          ];
          expect(circle.length).toBeGreaterThan(1);
          expect(circle.at(-1)).toBe(circle[0]);
          for (const [at, slug] of circle.slice(1).entries()) {
            expect(present(nodes.find((node) => node.slug === circle[at])).depends_on).toContain(slug);
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  // Guards: phases keep the order and the positions that the author wrote, where possible.
  test('keep their order where they are free to', () => {
    const order = (phases: WorkflowSpec['phases']) => orderPhases({ phases }).map(({ slug }) => slug);
    expect(order([phase('c'), phase('a'), phase('b')])).toEqual(['c', 'a', 'b']);
    expect(order([phase('b', { depends_on: ['c'] }), phase('a'), phase('c')])).toEqual(['a', 'c', 'b']);
  });
});

// Guards: built-in templates follow these rules, and are found by any slug without surprises.
test('built-in workflows are right', () => {
  const slugs = builtinTemplates.map(({ spec: { slug, version } }) => `${slug} ${version}`);
  expect(new Set(slugs).size).toBe(slugs.length);
  for (const { spec: shipped } of builtinTemplates) {
    expect(parse(shipped)).toEqual(shipped);
    for (const { steps: own } of shipped.phases) {
      expect(
        own.flatMap((_, at) => stepDependencies(own, at)).every((slug) => own.some((s) => s.step_slug === slug)),
      ).toBe(true);
    }
  }
});
