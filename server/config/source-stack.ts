import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';
import { root } from './root.ts';

const placeInBuild = /file:\/\/\S*\/dist\/server\/([\w.-]+\.js):(\d+):(\d+)/g;

/**
 * The stack of an error with the places in our source files, which the build's source maps know. Node's own
 * `--enable-source-maps` reads all of them at the start, for 8 MB.
 */
export function sourceStack({ stack = '' }: Error): string {
  return stack.replace(placeInBuild, (place, file, line, column) => {
    try {
      const map = new SourceMap(JSON.parse(readFileSync(new URL(`dist/server/${file}.map`, root), 'utf8')));
      const origin = map.findOrigin(Number(line), Number(column));
      if (!('fileName' in origin)) return place;
      const source = new URL(origin.fileName, new URL('dist/server/', root));
      return `${fileURLToPath(source).slice(fileURLToPath(root).length)}:${origin.lineNumber}:${origin.columnNumber}`;
    } catch {
      return place;
    }
  });
}
