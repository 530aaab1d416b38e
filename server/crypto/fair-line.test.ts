import { expect, it } from 'vitest';
import { fairLine, joinLine, mayReplace, type Origin, takeNext, takeReplaced } from './fair-line.ts';

/** A line of items named by their origin and number: `a1` is the first of `a`, `s.x1` the first of `x` in the network `s`. */
function lineOf(...names: string[]) {
  const line = fairLine<string>();
  for (const name of names) joinLine(line, originOf(name), name);
  return line;
}

const originOf = (name: string) => name.replace(/\d+$/, '').split('.') as unknown as Origin;

/** `many('a', 3)` is a1, a2, a3. */
const many = (origin: string, count: number) => Array.from({ length: count }, (_, n) => `${origin}${n + 1}`);

function takeAll(line: ReturnType<typeof lineOf>): string[] {
  const taken = Array.from({ length: line.length }, () => takeNext(line) as string);
  expect([line.length, takeNext(line), line.length, line.parts.size]).toEqual([0, undefined, 0, 0]);
  return taken;
}

it('LM-08 origins take turns; within one it is first come, first served', () => {
  expect(takeAll(lineOf('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  expect(takeAll(lineOf())).toEqual([]);
});

it('LM-08 who had a turn and comes again is behind those who still wait for theirs', () => {
  const line = lineOf('a1', 'b1', 'c1');
  expect(takeNext(line)).toBe('a1');
  joinLine(line, ['a'], 'a2');
  joinLine(line, ['d'], 'd1');
  expect(takeAll(line)).toEqual(['b1', 'c1', 'a2', 'd1']);
});

it('LM-08 a network has one turn, whatever it is divided into, and its parts share that', () => {
  expect(takeAll(lineOf('s.x1', 's.x2', 's.y1', 's.z1', 'b1', 'b2', 'b3'))).toEqual([
    's.x1',
    'b1',
    's.y1',
    'b2',
    's.z1',
    'b3',
    's.x2',
  ]);
});

it('LM-08 a newcomer gets the place of the newest of the origin with the most', () => {
  const line = lineOf(...many('a', 3), ...many('b', 5), 'c1');
  for (const [newcomer, replaced] of [
    ['d', 'b5'],
    ['c', 'b4'],
    ['e.f', 'a3'],
  ] as const) {
    expect(mayReplace(line, originOf(newcomer))).toBe(true);
    expect(takeReplaced(line, originOf(newcomer))).toBe(replaced);
    joinLine(line, originOf(`${newcomer}9`), `${newcomer}9`);
  }
  expect(line.length).toBe(9);
});

it('LM-08 but only if they have fewer even then: a place does not go to and fro', () => {
  for (const [names, newcomer] of [
    [[], 'a'],
    [many('a', 5), 'a'],
    [['a1', 'b1', 'c1'], 'd'],
    [[...many('a', 3), ...many('b', 2)], 'b'],
    [['s.x1', 's.x2', 's.y1'], 's.y'],
    [['s.x1', 's.y1', 'b1', 'b2'], 's.z'],
  ] as const) {
    const line = lineOf(...names);
    expect(mayReplace(line, originOf(newcomer)), `${newcomer} to ${names}`).toBe(false);
    expect(takeReplaced(line, originOf(newcomer))).toBeUndefined();
    expect(takeAll(line).toSorted()).toEqual([...names].toSorted());
  }
});

it('LM-08 a network of many origins makes place for others, and within it the origin with the most does', () => {
  const line = lineOf('s.w1', ...many('s.x', 3), 's.y1', 's.z1', 'b1');
  expect(takeReplaced(line, ['c'])).toBe('s.x3');
  expect(takeReplaced(line, ['s', 'v'])).toBe('s.x2');
  expect(takeReplaced(line, ['s', 'v'])).toBeUndefined();
  expect(takeReplaced(line, ['c'])).toBe('s.w1');
  expect(takeAll(line)).toEqual(['s.x1', 'b1', 's.y1', 's.z1']);
});
