// diff.ts - what differs between two texts: lines beside each other, and within lines that have become others the words.
//
// The shortest way from one to the other is looked for, as far as that is cheap; where two texts have little in common the rest
// is taken as replaced, so that whatever somebody wrote takes a bounded time.

/** A piece of a line; marked where the other side has something else. */
export interface Piece { text: string; marked: boolean }
/** A line of one side; `at` is its number from 1. */
export interface Side { at: number; pieces: Piece[] }
/** same: both; changed: another line in its place; left, right: on that side alone. */
export interface Row { kind: "same" | "changed" | "left" | "right"; left?: Side; right?: Side }

const STEPS_MAX = 600, WORDS_MAX = 400, LINE_MAX = 2000, BEFORE = 200, MARKED_MAX = 200;

/** Which of a stay, as pairs of places in both; what is missing differs. */
function kept<T>(a: T[], b: T[], most = STEPS_MAX): [number, number][] {
  let head = 0, tail = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  while (tail < a.length - head && tail < b.length - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const pairs: [number, number][] = [];
  for (let i = 0; i < head; i++) pairs.push([i, i]);
  for (const [x, y] of middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail), most)) pairs.push([x + head, y + head]);
  for (let i = tail; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

/** By Myers: the furthest place on each diagonal after so many steps; the way back is read from what was noted. */
function middle<T>(a: T[], b: T[], most: number): [number, number][] {
  const n = a.length, m = b.length, limit = Math.min(n + m, most), far = new Int32Array(2 * limit + 3), zero = limit + 1, noted: Int32Array[] = [];
  if (!n || !m) return [];
  for (let d = 0; d <= limit; d++) {
    noted.push(far.slice(zero - d - 1, zero + d + 2));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (far[zero + k - 1] ?? 0) < (far[zero + k + 1] ?? 0)) ? (far[zero + k + 1] ?? 0) : (far[zero + k - 1] ?? 0) + 1;
      while (x < n && x - k < m && a[x] === b[x - k]) x++;
      far[zero + k] = x;
      if (x >= n && x - k >= m) return back(noted, n, m);
    }
  }
  return [];
}

function back(noted: Int32Array[], n: number, m: number): [number, number][] {
  const pairs: [number, number][] = [];
  let x = n, y = m;
  for (let d = noted.length - 1; d >= 0; d--) {
    const far = noted[d] ?? new Int32Array(), at = (k: number): number => far[k + d + 1] ?? 0, k = x - y;
    const from = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const px = d ? at(from) : 0, py = d ? px - from : 0;
    while (x > px && y > py) pairs.push([--x, --y]);
    x = px;
    y = py;
  }
  return pairs.reverse();
}

const plain = (text: string): Piece[] => (text ? [{ text: cut(text, 0), marked: false }] : []);

/** A very long line is shown from a little before where it begins to differ. */
function cut(text: string, from: number): string {
  if (text.length <= LINE_MAX) return text;
  const begin = Math.max(0, Math.min(from - BEFORE, text.length - LINE_MAX));
  const rest = text.length - begin - LINE_MAX;
  return `${begin ? `[${begin.toLocaleString("en")} characters] ` : ""}${text.slice(begin, begin + LINE_MAX)}${rest > 0 ? ` [${rest.toLocaleString("en")} more characters]` : ""}`;
}

/** The words of two lines, with those marked that the other has not. */
function within(a: string, b: string): [Piece[], Piece[]] {
  if (a.length > LINE_MAX || b.length > LINE_MAX) {
    let same = 0;
    while (same < a.length && a[same] === b[same]) same++;
    return [[{ text: cut(a, same), marked: true }], [{ text: cut(b, same), marked: true }]];
  }
  const words = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) ?? [];
  const left = words(a), right = words(b), pairs = kept(left, right, WORDS_MAX);
  const stays = [new Set(pairs.map(([x]) => x)), new Set(pairs.map(([, y]) => y))] as const;
  const pieces = (list: string[], stay: ReadonlySet<number>): Piece[] => {
    const out: Piece[] = [];
    list.forEach((text, i) => {
      const marked = !stay.has(i), last = out.at(-1);
      if (last && last.marked === marked) last.text += text;
      else out.push({ text, marked });
    });
    return out;
  };
  // Where hardly anything stays, marks on every other word say nothing.
  const shared = pairs.reduce((sum, [x]) => sum + (left[x]?.trim().length ?? 0), 0);
  return shared * 4 < Math.min(a.trim().length, b.trim().length) ? [[{ text: a, marked: true }], [{ text: b, marked: true }]] : [pieces(left, stays[0]), pieces(right, stays[1])];
}

/** A text's lines; one that ends with a newline has no empty line after it. */
export const linesOf = (text: string): string[] => {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
};

export function compare(before: string, after: string): Row[] {
  const a = linesOf(before), b = linesOf(after), rows: Row[] = [];
  let x = 0, y = 0, marked = 0;
  for (const [i, j] of [...kept(a, b), [a.length, b.length] as [number, number]]) {
    for (; x < i && y < j; x++, y++) {
      const one = a[x] ?? "", other = b[y] ?? "";
      const [left, right] = ++marked > MARKED_MAX ? [plain(one), plain(other)] : within(one, other);
      rows.push({ kind: "changed", left: { at: x + 1, pieces: left }, right: { at: y + 1, pieces: right } });
    }
    for (; x < i; x++) rows.push({ kind: "left", left: { at: x + 1, pieces: plain(a[x] ?? "") } });
    for (; y < j; y++) rows.push({ kind: "right", right: { at: y + 1, pieces: plain(b[y] ?? "") } });
    if (i < a.length) rows.push({ kind: "same", left: { at: ++x, pieces: plain(a[i] ?? "") }, right: { at: ++y, pieces: plain(b[j] ?? "") } });
  }
  return rows;
}
