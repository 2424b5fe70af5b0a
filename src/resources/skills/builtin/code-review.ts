import { defineSkill } from './define.ts';

export const codeReview = defineSkill({
  slug: 'code-review',
  title: 'Code review',
  description:
    'Reviews code or a change to it: does it do what it should, what breaks it, can the next person change it.',
  category: 'code',
  agents: ['reviewer', 'coder', 'tester'],
  body: `
Read the purpose first, then the tests, then the code. Code that is beautiful and does the wrong thing is wrong.

# In this order

1. **Does it do what was asked?** Go through the requirements one by one and find the lines that meet each. Name what has none.
2. **What breaks it?** For each input: empty, missing, one, very many, very long, negative, zero, twice, in another order, in another alphabet, hostile. For each call to the outside: slow, failed, answered twice, answered something else. For each pair of steps: what if the process dies between them?
3. **Who can abuse it?** Input that becomes a query, a command, a path, a page or a prompt. An id of somebody else's. A secret in a log, an error or an address. A limit that is not there.
4. **At the same time?** Two callers, one record. Check-then-act without a lock or a condition. Order that is assumed and not enforced.
5. **Does a test fail when it breaks?** Change a line in your mind: which test notices? A test without an assertion that can fail is decoration.
6. **Can it be changed next year?** Names that say what a thing is. One place for each rule. No dead code, no copy with a small difference, no cleverness without a reason beside it.

Style that a formatter decides is none of your business.

# How you say it

- Each finding: file and line, what happens with which input, why it matters, what would settle it. "With an empty list line 40 divides by zero; return 0 before."
- **Blocking**: wrong result, lost or leaked data, security, a requirement missed. **Should fix**: will cost somebody soon. **Idea**: everything else, and at most three.
- If you are not sure, say what you would run to find out. Do not report what you did not read.
- Say what must stay as it is, in a line.`,
});
