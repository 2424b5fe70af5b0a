/** The HTTP contract of the search over a workspace. */
import { z } from 'zod';
import { endpoint } from '../../platform/http/endpoint.ts';
import { limit, Timestamp } from '../../platform/http/schemas.ts';
import { RANKED, SEARCH_KINDS, SEARCH_STATUSES, SEARCHED_CHARACTERS } from './model.ts';

const instant = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

const SearchQuery = z.object({
  q: z
    .string()
    .min(1)
    .max(300)
    .describe('Words, each found by its beginning; `"a quoted text"` stands as it is, `-word` is not there; or an id'),
  kind: z.enum(SEARCH_KINDS).optional(),
  status: z.enum(SEARCH_STATUSES).optional().describe('Of a run or project; nothing else has one'),
  agent: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Of a run, or of the run that saved the file or to which it happened'),
  from: instant.optional().describe('Made at this time or later'),
  to: instant.optional().describe('Made before this time'),
  after: z.string().max(1_000).optional().describe('`next` of the page before'),
  limit: limit(100, 20),
});
export type SearchQuery = z.output<typeof SearchQuery>;

const SearchResult = z
  .object({
    kind: z.enum(SEARCH_KINDS),
    id: z.string(),
    title: z.string().describe('Of a run the beginning of its prompt, of an event what happened'),
    status: z.enum(SEARCH_STATUSES).nullable(),
    agent: z.string().nullable(),
    run_id: z.string().nullable(),
    project_id: z.string().nullable(),
    job_id: z.string().nullable().describe('A file was attached to this scheduled job'),
    thread_id: z.string().nullable().describe('A file was attached to this conversation'),
    created_at: Timestamp,
    rank: z.number().describe('Compares results of one search'),
    highlights: z
      .array(
        z.object({
          field: z.string().describe('Which text: `prompt`, `output`, `error`, `title`, `brief`, `content`, `id`, ...'),
          parts: z
            .array(z.object({ text: z.string(), hit: z.boolean() }))
            .describe('The text around the first word that was found, in parts'),
        }),
      )
      .describe('Where the words stand, text by text'),
  })
  .meta({ id: 'SearchResult' });

export const search = endpoint({
  id: 'search.find',
  path: '/v1/search',
  summary: 'Find runs, projects, artifacts, files and events of a workspace by their words or ids, the best first',
  description:
    'All words must be there, in whatever order. Events are those that say what went wrong (a tool that failed, a call of a model that was ' +
    'tried again or cut off, the error of a step) or what somebody said (feedback, comments, instructions). ' +
    `The first ${SEARCHED_CHARACTERS.toLocaleString('en')} characters of a text are searched. ` +
    `The newest ${RANKED} that match are ranked among each other; pages of older ones come after them.`,
  query: SearchQuery,
  reply: z.object({
    data: z.array(SearchResult),
    meta: z.object({
      limit: z.int(),
      next: z.string().nullable().describe('Goes on with the next page; null: no more'),
    }),
  }),
  problems: ['cursor_unknown'],
});
