import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first of these names on the PATH, otherwise the first of these places that is a program, or null. */
export function findProgram(
  names: readonly string[],
  { PATH = '' }: NodeJS.ProcessEnv,
  usualPlaces: readonly string[] = [],
): string | null {
  const onPath = PATH.split(delimiter)
    .filter(Boolean)
    .flatMap((folder) => names.map((name) => join(folder, name)));
  return [...onPath, ...usualPlaces].find(isProgram) ?? null;
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
