import { readFileSync } from 'node:fs';
import { expect } from '@playwright/test';
import type axe from 'axe-core';
import { axeScript } from '../axe.ts';
import type { Visitor } from './visitor.ts';

// A function whose body is the checker: calls are sent as text, which no policy of a page keeps out.
const loadAxe = new Function(readFileSync(axeScript, 'utf8')) as () => void;

type Checked = { axe: typeof axe; axeFound?: string[] };

/** Axe's findings on a page, one per line, in any browser. */
export async function askAxe(visitor: Visitor): Promise<string[]> {
  await visitor.inPage(loadAxe);
  await visitor.inPage(() => {
    const page = window as unknown as Checked;
    delete page.axeFound;
    const told = (found: string[]) => {
      page.axeFound = found;
    };
    page.axe.run(document).then(
      ({ violations }) =>
        told(
          violations.flatMap(({ id, nodes }) =>
            nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
          ),
        ),
      (error) => told([String(error)]),
    );
  });
  let found: string[] | null = null;
  const isDone = async () => {
    found = await visitor.inPage(() => (window as unknown as Checked).axeFound ?? null);
    return found !== null;
  };
  await expect.poll(isDone, { timeout: 30_000, intervals: [100, 200] }).toBe(true);
  return found as unknown as string[];
}
