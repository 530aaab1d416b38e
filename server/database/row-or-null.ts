/** The row that a query finds, or null. */
export async function rowOrNull<T>(query: PromiseLike<readonly T[]>): Promise<T | null> {
  const [row] = await query;
  return row ?? null;
}
