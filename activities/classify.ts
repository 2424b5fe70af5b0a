/** Picks an agent for a prompt that names none: the one whose description is closest in meaning. */
import { embedQuestion } from '../src/platform/models/embed-text.ts';
import type { Models } from '../src/platform/models/types.ts';
import { DEFAULT_AGENT } from '../src/resources/agents/builtin/index.ts';

export interface Classification {
  agent: string;
  /** The best five, which the timeline shows. */
  scores: { agent: string; score: number }[];
}

export const createClassifier = (models: Pick<Models, 'embed' | 'embedding'>) => {
  // Descriptions change seldom and an embedding costs milliseconds, so vectors are kept; the map is bounded by being
  // emptied.
  const known = new Map<string, number[]>();
  const MAX_KNOWN = 5_000;

  const embedOnce = async (texts: string[], workspace: string): Promise<number[][]> => {
    const missing = [...new Set(texts.filter((text) => !known.has(text)))];
    if (known.size + missing.length > MAX_KNOWN) known.clear();
    const vectors = missing.length > 0 ? await models.embed(missing, { workspace }) : [];
    missing.forEach((text, i) => known.set(text, vectors[i]!));
    return texts.map((text) => known.get(text)!);
  };

  return async (
    workspace: string,
    prompt: string,
    agents: readonly { slug: string; description: string }[],
  ): Promise<Classification> => {
    if (!models.embedding.reads(prompt)) return { agent: DEFAULT_AGENT, scores: [] };
    const candidates = agents.filter(({ description }) => description !== '');
    const [{ vector: question }, descriptions] = [
      await embedQuestion(models, prompt.slice(0, 2_000), workspace),
      await embedOnce(
        candidates.map(({ description }) => description),
        workspace,
      ),
    ];
    const scores = candidates
      .map(({ slug }, i) => ({ agent: slug, score: Math.round(cosine(question, descriptions[i]!) * 1_000) / 1_000 }))
      .sort((a, b) => b.score - a.score)
      .slice(0, 5);
    const best = scores[0];
    // A description that is not near is not about the prompt.
    return { agent: best && best.score >= models.embedding.near ? best.agent : DEFAULT_AGENT, scores };
  };
};

/** Vectors are of unit length, so the product is the cosine. */
const cosine = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * b[i]!, 0);
