/** The ten built-in workflows in the whole service: there from the start, and made of what the service has. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { builtinTemplates } from '../../../src/resources/templates/builtin/index.ts';
import { startTestService, type Tenant, type TestService } from '../../support/service/service.ts';

const TEN = [
  ...['blog-post', 'childrens-book', 'content', 'content-slideshow', 'digital-planner'],
  ...['landing-page', 'micro-saas', 'motion-graphics', 'sticker-pack', 'worksheet'],
];

let service: TestService;
let tenant: Tenant;

beforeAll(async () => {
  service = await startTestService({ worker: false });
  tenant = await service.tenant('acc_shipped');
});
afterAll(() => service.close());

// Guards: a fresh installation has the ten templates of the specification, on both surfaces.
test('are there when the service has started', async () => {
  for (const { status, body } of [await tenant.api('GET', '/v1/workflows'), await tenant.cp('GET', '/v1/workflows')]) {
    expect(status).toBe(200);
    expect(body.data.map(({ slug }: { slug: string }) => slug)).toEqual(TEN);
  }
});

// Guards: the agents, tools, skills and actions that they name exist in the running service.
test.each(builtinTemplates.map(({ spec }) => [spec.slug, spec] as const))(
  '%s can be carried out',
  async (slug, spec) => {
    expect(await service.services.templates.unresolvedBindings(tenant.caller.customerId, spec)).toEqual([]);
    const { body } = await tenant.cp('GET', `/v1/workflows/${slug}`);
    expect(body.spec).toEqual(JSON.parse(JSON.stringify(spec)));
  },
);

// Guards: reading a built-in workflow, changing a word and sending it back makes an own version.
test('can be customised from what is read', async () => {
  const { body: shipped } = await tenant.cp('GET', '/v1/workflows/blog-post');
  const spec = { ...shipped.spec, title: 'Our blog' };
  expect(await tenant.cp('PATCH', '/v1/workflows/blog-post', { spec })).toMatchObject({
    status: 200,
    body: { name: 'Our blog', version: 2, is_builtin: false },
  });
});
