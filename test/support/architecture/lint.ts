/** What the project's own lint says of code that is in no file. */
import { ESLint } from 'eslint';
import { fileURLToPath } from 'node:url';
import tseslint from 'typescript-eslint';
import { first } from '../../../src/platform/core/present.ts';

const eslint = new ESLint({
  cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  // Rules that need types take a minute to find them out.
  overrideConfig: [tseslint.configs.disableTypeChecked],
});

/**
 * @param expressions each about `text`, on a line of its own
 * @param filePath from the root; it says which rules there are, and need not exist
 * @returns for each expression the rules that it breaks
 */
export async function brokenRules(expressions: readonly string[], filePath: string): Promise<string[][]> {
  const lines = expressions.map((code, at) => `export const found${at} = (text: string) => ${code};\n`);
  const result = first(await eslint.lintText(lines.join(''), { filePath }));
  return lines.map((_, at) => result.messages.flatMap(({ line, ruleId }) => (line === at + 1 ? String(ruleId) : [])));
}
