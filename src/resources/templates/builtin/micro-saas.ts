/** A micro-SaaS: from a problem to a scope that a person signs, to code, launch copy and one package of it all. */
import { action, agent, choice, defineTemplate, file, gate, LANGUAGE, list, object, params, text } from './define.ts';

const FILES = object({
  files: list(
    object({
      path: text('Inside the project, with forward slashes', {
        pattern: '^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)*$',
        maxLength: 200,
        examples: ['app.js'],
      }),
      content: text('The whole file'),
    }),
    'Complete files, in the order in which somebody would read them',
    1,
    40,
  ),
});

export const microSaas = defineTemplate({
  slug: 'micro-saas',
  title: 'Micro-SaaS',
  description:
    'Studies a problem and its market, settles a scope that a person approves, designs screens and data side by side, ' +
    'writes server and client, tests them, and packs code and launch copy into one file.',
  collection: 'software',
  tags: ['product', 'startup', 'code', 'html'],
  params: params({
    stack: text('Languages and frameworks. Default: plain HTML, CSS and JavaScript with a small Node.js server.', {
      maxLength: 500,
    }),
    price_idea: text('What it might cost a month. Default: proposed by the study.', { maxLength: 100 }),
    language: LANGUAGE,
  }),
  phases: [
    {
      slug: 'discovery',
      title: 'Discovery',
      artifact: { schema_slug: 'micro-saas/discovery' },
      steps: [
        agent('market', 'researcher', {
          title: 'Look at the market',
          tools: ['read_attachment', 'http_request', 'current_time'],
          skills: ['research-method'],
          instructions: `
Look at who has the problem of the brief and what they use today.

Name the narrowest group for whom it is worst, how often they meet it, the three things that they use instead (a spreadsheet counts), and what each does badly. Give sources; mark what you only believe.`,
        }),
        agent('numbers', 'analyst', {
          title: 'Do the sums',
          depends_on: [],
          tools: ['calculator', 'read_attachment'],
          skills: ['calculating'],
          instructions: `
Do the sums of a business that one person can run.

Calculate with the calculator: price a month (the parameter \`price_idea\`, else two candidates), customers needed for 3,000 US dollars a month after costs, hosting and model costs a customer, and the churn at which it stops working. Mark each number as given, measured or guessed, and say which guess decides.`,
        }),
        agent('concept', 'planner', {
          role: 'assembler',
          title: 'Settle the concept',
          depends_on: ['market', 'numbers'],
          instructions: `
Settle what this product is, for whom, and what it is not.

Weigh market and numbers. If they speak against the idea of the brief, change the group or the job rather than the facts. One job, done end to end, for one kind of customer, at one price.`,
          output_schema: object({
            customer: text('The narrowest group'),
            job: text('What it does for them, from start to end'),
            price: text('A month, and why they would pay it'),
            not_included: list(text('Left out'), 'What people will ask for and will not get', 1, 10),
            riskiest_assumption: text('What must be true, and the cheapest way to find out'),
          }),
        }),
      ],
    },
    {
      slug: 'scope',
      title: 'Scope',
      depends_on: ['discovery'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'micro-saas/scope' },
      steps: [
        agent('scope', 'planner', {
          skills: ['planning'],
          instructions: `
Write the scope of the first version from the artifact of \`discovery\`.

Five to eight user stories, each with acceptance criteria that a stranger could test. The data that is kept, with the reason for each field. What happens with wrong input, an empty account and a lost connection. Buildable in the \`stack\` of the parameters, else plain HTML, CSS and JavaScript with a small Node.js server, without any paid service.`,
          output_schema: object({
            name: text('Working name', { maxLength: 60 }),
            stories: list(
              object({
                story: text('As ..., I can ..., so that ...'),
                acceptance: list(text('Criterion'), 'Testable', 1, 6),
              }),
              'Most important first',
              3,
              12,
            ),
            data: list(object({ entity: text('Name'), fields: text('Fields, types and why') }), 'What is kept', 1, 10),
            limits: list(text('Limit'), 'What the first version does not do', 1, 10),
          }),
        }),
        agent('review', 'reviewer', {
          role: 'reviewer',
          instructions: `
Review the scope as the engineer who has to build it in a week.

Reject it when a story cannot be tested, when the job of the discovery is not done end to end, when something is in it that the first customer would not miss, or when data is kept without a reason. Say what to cut and what to make precise.`,
        }),
        gate('sign-off', 'human', {
          prompt: 'Code will be written to this scope. Approve it, or reject it with what should change.',
          on_reject: 'rework',
        }),
      ],
    },
    {
      slug: 'screens',
      title: 'Screens',
      depends_on: ['scope'],
      artifact: { schema_slug: 'micro-saas/screens' },
      steps: [
        agent('screens', 'designer', {
          instructions: `
Design the screens that the stories of the artifact of \`scope\` need, and no other.

For each: its purpose, its content from top to bottom with the final words, its states (empty, loading, error, full) and what the keyboard does. Then the tokens: colours with roles and contrast, type sizes, spacing.`,
          output_schema: object({
            screens: list(
              object({
                name: text('Name'),
                purpose: text('The one thing to do here'),
                layout: text('Top to bottom, with states'),
              }),
              'In the order of use',
            ),
            tokens: text('Colours, type and spacing'),
          }),
        }),
      ],
    },
    {
      slug: 'interface',
      title: 'Data and interface',
      depends_on: ['scope'],
      artifact: { schema_slug: 'micro-saas/interface' },
      steps: [
        agent('interface', 'coder', {
          instructions: `
Define the data model and the HTTP interface for the artifact of \`scope\`.

Every endpoint with method, path, who may call it, request, reply and errors; every table with types, keys and constraints. Server and client are written at the same time from this alone, so nothing may be left to guess. Input is hostile.`,
          output_schema: object({
            tables: list(object({ name: text('Name'), columns: text('Types, keys, constraints') }), 'Data model'),
            endpoints: list(
              object({
                method: choice('HTTP method', ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
                path: text('Path'),
                behaviour: text('Who may call it, request, reply, errors'),
              }),
              'Interface',
            ),
          }),
        }),
      ],
    },
    {
      slug: 'build',
      title: 'Build',
      depends_on: ['scope', 'screens', 'interface'],
      cascade_on_upstream_change: 'lazy',
      artifact: { schema_slug: 'micro-saas/build', json_schema: FILES },
      steps: [
        agent('server', 'coder', {
          title: 'Write the server',
          depends_on: [],
          timeout_s: 1_800,
          instructions: `
Write the server: every endpoint of the artifact of \`interface\`, complete and runnable.

Paths begin with \`server/\`. Validate all input, use parameterised queries, let errors say what to do, keep secrets in the environment. Include the schema of the database and a test for each endpoint.`,
          output_schema: FILES,
        }),
        agent('client', 'coder', {
          title: 'Write the client',
          depends_on: [],
          timeout_s: 1_800,
          skills: ['html-pages'],
          instructions: `
Write the client: every screen of the artifact of \`screens\` with all its states, against the artifact of \`interface\`.

Paths begin with \`client/\`. Semantic HTML that works with a keyboard and at 360 pixels, the tokens as CSS variables, no library from another host. Escape whatever a user wrote.`,
          output_schema: FILES,
        }),
        agent('integrate', 'coder', {
          role: 'assembler',
          title: 'Put it together',
          depends_on: ['server', 'client'],
          timeout_s: 1_800,
          skills: ['code-review'],
          instructions: `
Put server and client together into one project and return all files.

Make them agree with each other and with the interface; where they differ, the interface is right. Add what is missing to start it: manifest, start script, example environment. Keep every file that needs no change as it is. Mend what the test found.`,
        }),
        agent('test', 'tester', {
          role: 'tester',
          title: 'Test against the scope',
          timeout_s: 1_200,
          skills: ['code-review'],
          instructions: `
Test the code against every acceptance criterion of the artifact of \`scope\`, by reading it line by line.

For each criterion follow the path from the screen through the request to the data and back. Try empty, huge and hostile input, a second user, and a reload in the middle. Passed means that no criterion fails and no fault loses data or opens it to others. A finding names file, line and what happens.`,
        }),
      ],
    },
    {
      slug: 'launch',
      title: 'Launch copy',
      depends_on: ['discovery', 'scope'],
      cascade_on_upstream_change: 'none',
      artifact: { schema_slug: 'micro-saas/launch' },
      steps: [
        agent('readme', 'copywriter', {
          instructions: `
Write the page that introduces the product, in Markdown.

From the artifacts of \`discovery\` and \`scope\`: what it does and for whom in two sentences, how it works in three steps, the price, what it does not do, how to try it. Below it, for developers: what is in the package and how it is started. No invented users or numbers.`,
          output_schema: object({ readme: text('In Markdown, beginning with a level-one title') }),
        }),
      ],
    },
    {
      slug: 'package',
      title: 'Package',
      depends_on: ['build', 'launch'],
      cascade_on_upstream_change: 'strict',
      artifact: file('micro-saas/package'),
      steps: [action('pack', 'package_project')],
    },
  ],
});
