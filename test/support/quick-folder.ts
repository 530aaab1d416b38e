import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

const memory = '/dev/shm';
/** A run's databases need a quarter of this. */
const roomInBytes = 2_000_000_000;

/**
 * Where tests keep databases for as long as they run: in memory if there is room, since creating a database there takes
 * a tenth of the time, otherwise where temporary files usually are.
 */
export const quickFolder = hasRoom(memory) ? memory : tmpdir();

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= roomInBytes;
  } catch {
    return false;
  }
}
