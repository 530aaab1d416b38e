/** Whether this run is `npm run test:all`: every row of a class and every `*.all.test.ts`, not the first alone. */
export const runsAll = process.env.TEST_ALL === '1';

/** The first row of each class, or every row with `npm run test:all`. */
export function oneOfEach<Row>(rows: readonly Row[], classOf: (row: Row) => string): Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => {
    const isFirst = !seen.has(classOf(row));
    seen.add(classOf(row));
    return isFirst || runsAll;
  });
}

/** Checks every row of a table in one test; a failure names its row. */
export async function eachRow<const Row>(rows: readonly Row[], check: (row: Row) => unknown): Promise<void> {
  for (const row of rows) {
    try {
      await check(row);
    } catch (error) {
      throw new Error(`${JSON.stringify(row)}: ${error}`, { cause: error });
    }
  }
}
