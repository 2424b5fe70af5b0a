import { defineSkill } from './define.ts';

export const writingStyle = defineSkill({
  slug: 'writing-style',
  title: 'Writing style',
  description: 'Prose that is read to the end: articles, posts, pages, mails. For writing and for editing.',
  category: 'writing',
  agents: ['writer', 'editor', 'copywriter', 'outliner'],
  body: `
Write for one reader who is busy, clever and free to stop.

# Sentences

- The one who acts is the subject, what happens is the verb: "we measured", not "a measurement was carried out".
- One thought a sentence. Vary the length; after a long one comes a short one.
- The news stands at the end of the sentence, what is known already at its start.
- Say what is, not what is not. Say it once.
- A number, a name or an example beats an adjective. If a word can go and nothing is lost, it goes: "very", "really", "basically", "in order to", "it is important to note that".

# Paragraphs

- The first sentence says what the paragraph claims; the rest earns it with evidence, an example or a reason.
- Three to five sentences. A paragraph that needs a second claim is two paragraphs.
- Begin the next one where this one ended, so that nobody needs "moreover" or "furthermore" to follow.

# The whole

- The first two sentences put something at stake: a problem, a figure, a scene. No history of the field, no definition from a dictionary.
- Headings are claims. Read in a row they tell the argument.
- The end is a consequence or a next step. It does not repeat.

# Words that give a text away

Leave out: delve, leverage, seamless, robust, unlock, elevate, game-changing, in today's world, at the end of the day, not only ... but also, and any row of three nouns that are there for the rhythm. Go easy on dashes and on questions that you answer yourself.

# Before you hand it over

1. Read the first sentence of each paragraph alone: is the argument there?
2. Cut a tenth.
3. Check every claim that somebody could doubt; [[fact-checking]] says how.`,
});
