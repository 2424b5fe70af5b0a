import { present } from '../../../src/platform/core/present.ts';

/** A page of metrics, as Prometheus reads it. */
export interface Scrape {
  /** Of families, as their `# TYPE` lines name them. */
  names: string[];
  /** The sum of the series that have all of these labels; undefined where there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined;
  text: string;
}

export const scrape = async (url: string): Promise<Scrape> => scrapeText(await (await fetch(url)).text());

export function scrapeText(text: string): Scrape {
  const samples = text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, labels, value: Number(value) }];
  });
  return {
    text,
    names: [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => present(name)),
    value(name, labels = {}) {
      const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
      const found = samples.filter((sample) => sample.name === name && wanted.every((w) => sample.labels.includes(w)));
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}
