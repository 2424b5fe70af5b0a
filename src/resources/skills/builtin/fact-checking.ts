import { defineSkill } from './define.ts';

export const factChecking = defineSkill({
  slug: 'fact-checking',
  title: 'Fact checking',
  description: 'Checks the claims of a text one by one against sources and material, and says how sure each is.',
  category: 'research',
  agents: ['researcher', 'reviewer', 'editor', 'writer'],
  body: `
A claim is checked when somebody else could repeat the check. Everything below serves that.

# Which claims

Go through the text from the first line to the last and list what can be wrong: numbers and units, dates and order of events, names, titles and spellings, quotations, what a source "says", cause and effect, superlatives ("the first", "most"), and statements about what people or products do. Opinions and plans are not claims; what they lean on is.

# How

1. Find the claim in the material that you were given. What stands there word for word is supported; what follows from it with a step in between needs the step written down.
2. What is not in the material: look at the source that is named, the original where you can reach it, with [[http_request]]. A page that quotes a page is one source, not two.
3. Recompute every sum, share, average and growth rate with [[calculator]]. Check that per cent and percentage points, million and billion, gross and net are what is meant.
4. Compare dates with today: [[current_time]]. "Current", "new" and "last year" age.
5. Quotations are exact or they are not quotations. A cut that changes the sense is an error.

# What you say of each

| Finding | Means |
|---|---|
| supported | Stands in the material or a source that you saw; name the place |
| wrong | A source says otherwise; give the right value and the place |
| unsupported | Nothing that you have says so; remove it, soften it, or find a source |
| cannot be checked | You would need something that you cannot reach; say what |

Never mark a claim supported because it sounds right or because you remember it. Never invent a source, a link or a page number. When two sources differ, give both and say which is nearer to the event.

The gravest come first: what would do harm or embarrass if it were printed, then numbers, then the rest.`,
});
