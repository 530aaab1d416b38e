/** How to undo what has been started, in the order of starting. */
export type Closings = (() => unknown)[];

/** Undoes all of it, the latest first; once. */
export async function closeAll(closings: Closings): Promise<void> {
  for (const close of closings.splice(0).reverse()) await close();
}
