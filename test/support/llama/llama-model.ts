/** One model of llama.cpp that reads a chat and writes its next message, token by token. */

/** What is used here of `node-llama-cpp`, which is fetched for the proof and no dependency of the repository. */
interface Sequence {
  /** How many tokens of the last chat are still read. */
  nextTokenIndex: number;
  adaptStateToTokens(tokens: readonly number[], allowShift: boolean): Promise<void>;
  evaluateWithoutGeneratingNewTokens(tokens: readonly number[]): Promise<void>;
  evaluate(tokens: readonly number[], options: Record<string, unknown>): AsyncGenerator<number>;
}
interface Library {
  getLlama(options: Record<string, unknown>): Promise<{
    loadModel(options: { modelPath: string }): Promise<{
      trainContextSize: number;
      tokenize(text: string, withSpecialTokens?: boolean): number[];
      detokenize(tokens: readonly number[]): string;
      isEogToken(token: number): boolean;
      createContext(options: Record<string, number>): Promise<{ getSequence(): Sequence }>;
    }>;
    createGrammar(options: { grammar: string }): Promise<unknown>;
  }>;
  LlamaGrammarEvaluationState: new (options: { model: unknown; grammar: unknown }) => unknown;
}

export interface Piece {
  role: string;
  text: string;
}

export interface Written {
  /** Goes on where the last one ended. */
  text: string;
  /** Of the chat, those that were read before. */
  cachedTokens: number;
  outputTokens: number;
  /** Of the last piece only. */
  end?: 'stop' | 'length' | 'hung-up';
}

interface Writing {
  /** GBNF. */
  grammar?: string;
  maxTokens: number;
  temperature: number;
  seed: number;
  /** The client is not there any more. */
  gone: AbortSignal;
}

/** Tokens of a chat that are read before the model looks whether anybody still waits. */
const READ_AT_ONCE = 64;
/** Of the end of a chat, and of what follows it: or a model that is asked to go on says the same again. */
const PENALIZED = 192;

/** @param library the address of its module */
export async function openModel({ library, weights }: { library: string; weights: string }) {
  const { getLlama, LlamaGrammarEvaluationState }: Library = await import(library);
  const llama = await getLlama({ gpu: false, build: 'never', maxThreads: 1, logLevel: 'error', progressLogs: false });
  const model = await llama.loadModel({ modelPath: weights });
  const contextSize = model.trainContextSize;
  const sequence = (await model.createContext({ contextSize, threads: 1, sequences: 1 })).getSequence();

  /** ChatML. Only its own marks are special: in a text they are characters. */
  function tokensOf(chat: readonly Piece[]): number[] {
    const begin = (role: string) => [...model.tokenize('<|im_start|>', true), ...model.tokenize(`${role}\n`)];
    const end = [...model.tokenize('<|im_end|>', true), ...model.tokenize('\n')];
    return [
      ...chat.flatMap(({ role, text }) => [...begin(role), ...model.tokenize(text), ...end]),
      ...begin('assistant'),
    ];
  }

  /** @returns how many tokens of it were read before; undefined where the client went */
  async function readChat(tokens: readonly number[], gone: AbortSignal): Promise<number | undefined> {
    // The last token is read anew, as the next one comes of it.
    await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
    const cached = sequence.nextTokenIndex;
    for (let at = cached; at < tokens.length - 1; at += READ_AT_ONCE) {
      if (gone.aborted) return undefined;
      await sequence.evaluateWithoutGeneratingNewTokens(
        tokens.slice(at, Math.min(at + READ_AT_ONCE, tokens.length - 1)),
      );
    }
    return cached;
  }

  /** All but the marks that end a message: without these it would find no end. */
  const repeatable = (all: readonly number[]): number[] =>
    all.slice(-PENALIZED).filter((token) => !model.isEogToken(token));

  async function* write(tokens: readonly number[], writing: Writing): AsyncGenerator<Written> {
    const { grammar, maxTokens, temperature, seed, gone } = writing;
    const cachedTokens = await readChat(tokens, gone);
    if (cachedTokens === undefined) return yield { text: '', cachedTokens: 0, outputTokens: 0, end: 'hung-up' };
    const made = grammar === undefined ? undefined : await llama.createGrammar({ grammar });
    const options = {
      temperature,
      seed,
      repeatPenalty: { punishTokens: () => repeatable([...tokens, ...written]), penalty: 1.2 },
      ...(made !== undefined && {
        grammarEvaluationState: new LlamaGrammarEvaluationState({ model, grammar: made }),
      }),
    };
    const written: number[] = [];
    let sent = 0;
    /** What there is of whole characters since the last time. */
    const rest = (isLast: boolean): string => {
      const text = model.detokenize(written);
      const whole = isLast ? text : text.replace(/\uFFFD+$/, '');
      const piece = whole.slice(sent);
      sent = whole.length;
      return piece;
    };
    const pieceOf = (end?: Written['end']): Written => ({
      text: rest(end !== undefined),
      cachedTokens,
      outputTokens: written.length,
      ...(end && { end }),
    });
    for await (const token of sequence.evaluate(tokens.slice(-1), options)) {
      if (gone.aborted) return yield pieceOf('hung-up');
      if (model.isEogToken(token)) return yield pieceOf('stop');
      written.push(token);
      if (written.length >= maxTokens) return yield pieceOf('length');
      yield pieceOf();
    }
    yield pieceOf('stop');
  }

  return {
    contextSize,
    /** @returns how long the chat is, and what writes the message that follows it */
    read(chat: readonly Piece[]) {
      const tokens = tokensOf(chat);
      return { tokens: tokens.length, write: (writing: Writing) => write(tokens, writing) };
    },
  };
}
