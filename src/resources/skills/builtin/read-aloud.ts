import { defineSkill } from './define.ts';

export const readAloud = defineSkill({
  slug: 'read-aloud',
  title: 'Reading aloud',
  description: 'Stories for children that are read to them: rhythm, words by age, page turns, what pictures carry.',
  category: 'writing',
  agents: ['storyteller', 'editor', 'educator'],
  body: `
Two people meet a picture book: an adult who reads for the twentieth time and a child who looks. Write for the voice of the one and the eyes of the other.

# By age

| Age | Whole book | A spread | Words |
|---|---|---|---|
| 2 to 3 | 100 to 250 words | one or two short sentences | things that can be touched, sounds, names |
| 4 to 5 | 300 to 600 | two to four sentences | feelings by name, a new word or two that the picture explains |
| 6 to 8 | 600 to 1,000 | up to six sentences | humour, a secret the reader knows before the hero |

# Story

- A child (or an animal that is one) wants something that a child understands, and gets it or something better by its own doing. No adult solves it.
- Three tries. The third works because of what the first two taught.
- The worst moment comes at three quarters and lasts one spread. Fear is allowed where comfort follows before sleep.
- The lesson is in what happens. Nobody says it.

# Sound

- Read it aloud. Where you stumble, the sentence is wrong.
- A line that returns, changed a little each time, so that the child can join in by the second time and be surprised by the fourth.
- Concrete verbs: shuffles, plops, tiptoes. Few adverbs.
- Rhyme only if every line scans, with the natural stress and in the natural order of words. One forced rhyme spoils a book; good prose never does.

# Turning the page

End a right-hand page on a question: a noise, a door, "And then...". The answer is behind the turn. Give the best surprise a spread with few words.

# What the picture does

Do not say what will be seen. The words say what somebody wants, feels or hears; the picture shows where, who and how it looks. Best is when the picture knows more than the words.`,
});
