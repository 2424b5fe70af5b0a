/**
 * Reads a streamed reply: tells its words as they come, and joins those in a row to one event of the same protocol, which the
 * SDK reads at the end. What the SDK makes of an event costs many times what the event does. What is no plain piece of a text,
 * of reasoning or of a call's arguments is left as it came, and in its place.
 */
import { parsedJson } from '../core/json.ts';
import { eachLine } from '../core/lines.ts';
import { fieldsOf, isRecord } from '../core/record.ts';
import type { Gather } from '../egress/gathered.ts';
import { mended } from './mended-lines.ts';

/** A piece of a reply, before anything is made of it. */
export interface Words {
  of: 'text' | 'reasoning' | 'arguments';
  text: string;
}

interface Piece extends Words {
  /** Two events with the same one differ in their text, and in what only counts the events. */
  key: string;
  /** @returns the event, with this text instead of its own */
  telling(text: string): string;
  /** What another event of the same kind has around its text, to the letter; undefined where that cannot be told. */
  around: readonly [before: string, after: string] | undefined;
}

/** Where the text of an event is, and what else of it has to be the same. */
interface Place extends Pick<Words, 'of'> {
  holder: Record<string, unknown>;
  field: string;
  same: unknown;
}

/** Two ends of a line, of which each is CR, LF or both. */
const EMPTY_LINE = /\n[\r\n]|\r\r/;

/** @param hear is told each piece once, in order; what it throws ends the reply */
export const joining =
  (hear: (words: Words) => void): Gather =>
  () => {
    let rest = '';
    /** The last character of it. */
    let last = '';
    let held: Piece | undefined;
    let out = '';

    const release = (): void => {
      if (held) out += `${eachLine(held.telling(held.text), mended)}\n\n`;
      held = undefined;
    };

    const takeBlock = (block: string): void => {
      const plain = withoutNumber(block);
      const more = held && textWithin(plain, held);
      if (held && more !== undefined) {
        held.text += more;
        return hear({ of: held.of, text: more });
      }
      const event = eventOf(block);
      const piece = event && pieceOf(plain, event);
      if (!piece) {
        release();
        out += `${eachLine(block, mended)}\n\n`;
        const text = event && textIn(event.fields);
        return text ? hear({ of: 'text', text }) : undefined;
      }
      const { of, text } = piece;
      if (piece.key === held?.key) piece.text = held.text + text;
      else release();
      held = piece;
      hear({ of, text });
    };

    const takeBlocks = (whole: string): string => {
      const blocks = (whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole).split('\n\n');
      const begun = blocks.pop() ?? '';
      for (const block of blocks) takeBlock(block);
      return begun;
    };

    return {
      take(text) {
        rest += text;
        // All there is would be read again with each part of a long event.
        const near = last + text;
        last = near.slice(-1);
        if (!EMPTY_LINE.test(near)) return;
        // A line end of two characters may come in two parts.
        const whole = rest.endsWith('\r') ? rest.slice(0, -1) : rest;
        rest = takeBlocks(whole) + rest.slice(whole.length);
      },
      end() {
        const begun = takeBlocks(rest);
        release();
        // What has no end is passed on without one, as whoever reads it knows what that means.
        return out + eachLine(begun, mended);
      },
    };
  };

interface Event {
  /** Its line, with its end. */
  name: string;
  fields: Record<string, unknown>;
}

/** Without a bound a name of some megabytes would run it out of stack. */
const NAME = /^event: ?[\w.]{1,200}\n/;

function eventOf(block: string): Event | undefined {
  const [name = ''] = NAME.exec(block) ?? [];
  if (!block.startsWith('data:', name.length)) return undefined;
  const fields = parsedJson(block.slice(name.length + 'data:'.length));
  return isRecord(fields) ? { name, fields } : undefined;
}

/** @param plain the block without its number */
function pieceOf(plain: string, { name, fields }: Event): Piece | undefined {
  const place = placeIn(fields);
  const text = place?.holder[place.field];
  if (!place || typeof text !== 'string') return undefined;
  const { of, holder, field, same } = place;
  holder[field] = '';
  const key = name + JSON.stringify(same);
  const telling = (words: string): string => {
    holder[field] = words;
    return `${name}data: ${JSON.stringify(fields)}`;
  };
  return { of, text, key, telling, around: aroundOf(plain, field, text) };
}

/** Of OpenAI each event has a number, and letters that hide how long its text is. In JSON this can be nothing but a field. */
const NUMBER = /,"(?:obfuscation":"\w{0,200}"|sequence_number":\d{1,20})/g;
const withoutNumber = (block: string): string =>
  block.includes('"obfuscation"') || block.includes('"sequence_number"') ? block.replace(NUMBER, '') : block;

/** @returns what is before and after the text, if the block has it once, written as we would, as the value of this field */
function aroundOf(block: string, field: string, text: string): Piece['around'] {
  const written = JSON.stringify(text);
  const at = block.indexOf(written);
  if (at === -1 || block.indexOf(written, at + 1) !== -1) return undefined;
  const [before, after] = [block.slice(0, at), block.slice(at + written.length)];
  return before.trimEnd().endsWith(`"${field}":`) ? [before, after] : undefined;
}

/** @returns the text of an event that is like the one held in everything else, to the letter */
function textWithin(block: string, { around }: Piece): string | undefined {
  if (!around || !block.startsWith(around[0]) || !block.endsWith(around[1])) return undefined;
  const written = block.slice(around[0].length, block.length - around[1].length);
  // Two texts with something between them are no JSON.
  const text = written.startsWith('"') ? parsedJson(written) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** @returns what an event says in words besides what else it has, as the last one with its reason to end */
function textIn(event: Record<string, unknown>): string {
  const [choice] = [event.choices].flat();
  const { content } = fieldsOf(fieldsOf(choice).delta);
  const [candidate] = [event.candidates].flat();
  const { parts } = fieldsOf(fieldsOf(candidate).content);
  const { text } = fieldsOf(event.content_block);
  const said = [content, parts, text].flat(2).map((part) => {
    if (typeof part === 'string') return part;
    const { text: words, thought } = fieldsOf(part);
    return typeof words === 'string' && thought !== true ? words : '';
  });
  return said.join('');
}

function placeIn(event: Record<string, unknown>): Place | undefined {
  if ('choices' in event) return inChat(event);
  if ('candidates' in event) return inGemini(event);
  if (event.type === 'content_block_delta') return inAnthropic(event);
  return inResponses(event);
}

/** Of these fields the last event has what counts; any other with parts of its own is for whoever reads the event. */
const COUNTS = ['usage', 'usageMetadata'];
const areSimple = (event: Record<string, unknown>, own: string): boolean =>
  Object.entries(event).every(([name, value]) => name === own || COUNTS.includes(name) || !isContainer(value));
const isContainer = (value: unknown): boolean => typeof value === 'object' && value !== null;
const hasCounts = (event: Record<string, unknown>): boolean[] => COUNTS.map((name) => isContainer(event[name]));

const only = (list: unknown): Record<string, unknown> | undefined => {
  const [one, ...others]: unknown[] = Array.isArray(list) ? list : [];
  return isRecord(one) && others.length === 0 ? one : undefined;
};

const CHAT = ['content', 'reasoning_content', 'reasoning'];
/** https://platform.openai.com/docs/api-reference/chat-streaming */
function inChat(event: Record<string, unknown>): Place | undefined {
  const choice = only(event.choices);
  const delta = choice?.delta;
  if (!choice || !isRecord(delta) || choice.finish_reason || !areSimple(event, 'choices')) return undefined;
  const same = [event.choices, hasCounts(event)];
  const made = fieldsOf(only(delta.tool_calls)).function;
  const [field, ...others] = CHAT.filter((name) => typeof delta[name] === 'string' && delta[name] !== '');
  if (isRecord(made)) return field ? undefined : { of: 'arguments', holder: made, field: 'arguments', same };
  if (!field || others.length > 0 || !areSimple(delta, '')) return undefined;
  return { of: field === 'content' ? 'text' : 'reasoning', holder: delta, field, same };
}

/** https://docs.anthropic.com/en/docs/build-with-claude/streaming */
const ANTHROPIC = new Map<unknown, [of: Words['of'], field: string]>([
  ['text_delta', ['text', 'text']],
  ['thinking_delta', ['reasoning', 'thinking']],
  ['input_json_delta', ['arguments', 'partial_json']],
]);
function inAnthropic(event: Record<string, unknown>): Place | undefined {
  const { delta } = event;
  const [of, field] = ANTHROPIC.get(fieldsOf(delta).type) ?? [];
  return isRecord(delta) && of && field ? { of, holder: delta, field, same: event } : undefined;
}

/** https://platform.openai.com/docs/api-reference/responses-streaming */
const RESPONSES = new Map<unknown, Words['of']>([
  ['response.output_text.delta', 'text'],
  ['response.reasoning_summary_text.delta', 'reasoning'],
  ['response.reasoning_text.delta', 'reasoning'],
  ['response.function_call_arguments.delta', 'arguments'],
]);
function inResponses(event: Record<string, unknown>): Place | undefined {
  const of = RESPONSES.get(event.type);
  const { sequence_number: _, obfuscation: __, delta: ___, ...same } = event;
  return of && { of, holder: event, field: 'delta', same };
}

/** https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
function inGemini(event: Record<string, unknown>): Place | undefined {
  const candidate = only(event.candidates);
  const part = only(fieldsOf(candidate?.content).parts);
  if (!candidate || !part || candidate.finishReason || !areSimple(event, 'candidates')) return undefined;
  const isText = Object.keys(part).every((name) => name === 'text' || name === 'thought');
  const of = part.thought === true ? 'reasoning' : 'text';
  return isText ? { of, holder: part, field: 'text', same: [event.candidates, hasCounts(event)] } : undefined;
}
