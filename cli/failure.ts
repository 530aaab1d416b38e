/** Exit codes of commands; documented in `vestibule --help`. */
export const exitCodes = { done: 0, refused: 1, wrongUsage: 2, notAvailable: 3 } as const;

export type Failure = Error & { exitCode: number };

/** An error that ends the command with one sentence for the operator and no stack. */
export function failure(sentence: string, kind: 'refused' | 'notAvailable' = 'refused'): Failure {
  return Object.assign(new Error(sentence), { exitCode: exitCodes[kind] });
}

export function isFailure(error: unknown): error is Failure {
  return error instanceof Error && typeof (error as Failure).exitCode === 'number';
}
