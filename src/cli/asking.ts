/** Asks whoever sits at the terminal; what is asked goes to standard error, so that answers for programs stay alone. */
import { createInterface } from 'node:readline/promises';

/** Asks again until the answer has the form. */
export async function question(text: string, form: RegExp): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (;;) {
      const answer = (await terminal.question(text)).trim();
      if (form.test(answer)) return answer;
    }
  } finally {
    terminal.close();
  }
}

/** @returns whether the answer is yes; anything else is no */
export const agrees = async (text: string): Promise<boolean> => /^y(es)?$/i.test(await question(`${text} [y/N] `, /^/));
