/**
 * Says of what an archive has in columns of JSON, times, amounts and lists which values the service itself writes there. The types
 * of the columns take more: a reader that meets a list where it knows a record, or a time that no calendar has, would fail.
 * `test/resources/imports/hostile-values.test.ts` reads what was brought of values that are none of these.
 */
import { z } from 'zod';
import { isLargerThan } from '../../../platform/core/json.ts';
import { DOCUMENT_KINDS, DOCUMENT_PROBLEMS, DOCUMENT_UNITS } from '../../../platform/documents/model.ts';
import type { Line } from '../archive/lines.ts';

const Fields = z.record(z.string(), z.unknown());
const Any = z.unknown();
const Text = z.string();
/** Text, or what it was made of: words, pictures, calls. */
const Said = z.union([Text, z.array(z.looseObject({ type: Text }))]);
const System = z.union([Text, z.object({ prompt: Text, skills: Text, memory: Text })]);

type Values = Readonly<Record<string, z.ZodType | ((row: Line) => z.ZodType)>>;

/** Each column of JSON of each table that is brought. */
export const VALUES: Readonly<Record<string, Values>> = {
  projects: { params: Fields },
  tasks: { artifact_json_schema: Fields },
  subtasks: { output_schema: Fields, gate_config: Fields, gate_output: Fields },
  attempts: {
    output: Any,
    consumed: z.record(Text, z.looseObject({ version: z.int(), isStale: z.boolean() })),
  },
  artifacts: { content: Any },
  project_events: { payload: Fields },
  runs: {
    override: z.looseObject({
      model_override: Text.max(200).optional(),
      cost_budget_usd: z.union([Text.regex(/^\d{1,12}(\.\d{1,12})?$/), z.number().positive()]).optional(),
      reasoning: z.boolean().optional(),
    }),
    step: z.looseObject({
      projectId: Text,
      tools: z.array(Text),
      skills: z.array(Text).optional(),
      outputSchema: Fields.optional(),
    }),
  },
  run_messages: { content: ({ role }) => (role === 'system' ? System : Said) },
  run_tool_calls: { arguments: Any, result: Any },
  run_events: { payload: Fields },
  attachments: {
    reading: z.object({
      kind: z.enum(DOCUMENT_KINDS).nullable(),
      readable: z.boolean(),
      unit: z.enum(DOCUMENT_UNITS).nullable(),
      count: z.int().nullable(),
      problem: z.enum(DOCUMENT_PROBLEMS).nullable(),
      summary: Text,
    }),
  },
};

/** More than the service keeps of anything as one value. */
const MAX_CHARACTERS = 16 * 1024 ** 2;
const TIME = /(_at|^ts)$/;
const AMOUNT = /(_usd|_threshold)$/;
const COUNT = /(_bytes|_tokens)$/;
/** Columns of lists of words. */
const LISTS = new Set(['depends_on', 'addenda', 'spared', 'tools', 'skills', 'feedback']);
const Words = z.array(Text);
/** Sums of many of them are counted on with. */
const MAX_COUNT = 10 ** 12;
const MAX_AMOUNT = 10 ** 9;
const [EARLIEST, LATEST] = [Date.parse('1970-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')];

/** @returns which value of a row is none that the service writes there */
export function oddValueOf(table: string, row: Line): string | undefined {
  for (const [name, known] of Object.entries(VALUES[table] ?? {})) {
    const value = row[name] ?? null;
    if (value === null) continue;
    const schema = typeof known === 'function' ? known(row) : known;
    if (isLargerThan(MAX_CHARACTERS, value) || !schema.safeParse(value).success) return name;
  }
  return Object.entries(row).find(([name, value]) => value !== null && isOdd(name, value))?.[0];
}

function isOdd(name: string, value: unknown): boolean {
  if (TIME.test(name)) return !isTime(value);
  if (AMOUNT.test(name)) return !isAmount(value);
  if (COUNT.test(name)) return typeof value !== 'number' || !(value >= 0 && value <= MAX_COUNT);
  if (LISTS.has(name)) return !Words.safeParse(value).success;
  return false;
}

function isTime(value: unknown): boolean {
  const at = typeof value === 'string' ? Date.parse(value) : NaN;
  return at >= EARLIEST && at <= LATEST;
}

/** The database has amounts that are none: `NaN`, `Infinity`. */
const isAmount = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) <= MAX_AMOUNT;
