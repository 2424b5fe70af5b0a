/**
 * A process of its own that stands for a provider: it writes a word after a word, at the pace that the name of the model
 * says, in the chunks of the chat protocol. The first chunk says when it was written.
 */
import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { portOf } from '../../support/processes/listening.ts';

/** `paced-<ms between writes>-<words of a write>-<writes>` */
const PACE = /^paced-(\d+)-(\d+)-(\d+)$/;

/** OpenAI hides the length of a word behind letters that are others in each chunk. */
const HIDING = 'Xz3fQ8mPa1LwRt';
const chunk = (delta: object, finish: string | null = null, at = 0): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-CmdN2rlHmKjWoDMTSsEFqcTgVFoWo',
    object: 'chat.completion.chunk',
    created: 1_764_000_000,
    model: 'gpt-6-sol-2026-08-01',
    service_tier: 'default',
    system_fingerprint: 'fp_7c233bf9d1',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    usage: null,
    obfuscation: HIDING.slice(at % HIDING.length),
  })}\n\n`;

const END = `data: {"id":"chatcmpl-CmdN2rlHmKjWoDMTSsEFqcTgVFoWo","object":"chat.completion.chunk","created":1764000000,"model":"gpt-6-sol-2026-08-01","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":200,"total_tokens":220,"prompt_tokens_details":{"cached_tokens":0}}}\n\ndata: [DONE]\n\n`;
const WORDS = ['The', ' quick', ' brown', ' fox', ' jumps', ' over', ' the', ' lazy', ' dog', '.', '\n\n', ' "Quoted"'];
/** Made before, because what the provider takes for it is not of interest. */
const CHUNKS = Array.from({ length: WORDS.length * HIDING.length }, (_, at) =>
  chunk({ content: WORDS[at % WORDS.length] }, null, at),
);

function write(response: ServerResponse, model: string): void {
  const [ms = 50, words = 1, writes = 100] = (PACE.exec(model) ?? []).slice(1).map(Number);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  response.write(
    chunk({ role: 'assistant', content: `${performance.timeOrigin + performance.now()} `, refusal: null }),
  );
  let left = writes;
  let at = 0;
  const timer = setInterval(() => {
    response.write(Array.from({ length: words }, (_, i) => CHUNKS[(at + i) % CHUNKS.length]).join(''));
    at += words;
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    response.end(chunk({}, 'stop') + END);
  }, ms);
  response.on('close', () => clearInterval(timer));
}

const server = createServer(async (request, response) => {
  write(response, String(JSON.parse(await text(request)).model));
});
server.listen(0, '127.0.0.1', () => process.send?.(portOf(server)));
process.on('disconnect', () => process.exit());
