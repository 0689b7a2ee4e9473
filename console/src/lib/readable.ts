// readable.ts - whether a text may be read as Markdown.
//
// Reading takes time by the square of the signs that may open or close something, and a frame of the stack for each
// quotation in another: a short text can hold a page up for minutes, or end it.  Such a text is shown as it was written.
// Code between fences is not read and does not count.
const SIGNS = 500, BARS = 6_000, WORD = 4_000, DEPTH = 32, INDENT = 100;

const isSpace = (c: number): boolean => c === 32 || c === 9;

/** How deep a line begins: "> - 1. " is three. */
function depth(line: string): number {
  let n = 0;
  for (let i = 0; i < line.length && n <= DEPTH; i++) {
    const c = line.charCodeAt(i);
    if (c === 62 || c === 45 || c === 43 || c === 42) n++; // > - + *
    else if (c >= 48 && c <= 57) {
      while (i + 1 < line.length && /[0-9]/.test(line[i + 1] ?? "")) i++;
      if (!/[.)]/.test(line[i + 1] ?? "")) break;
      i++;
      n++;
    } else if (!isSpace(c)) break;
  }
  return n;
}

export function readable(text: string): boolean {
  let fence = "", signs = 0, bars = 0;
  for (const line of text.split("\n")) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence) {
      if (mark.startsWith(fence) && line.trim() === mark) fence = "";
      continue;
    }
    if (mark && !line.slice(line.indexOf(mark) + mark.length).includes("`")) {
      fence = mark;
      continue;
    }
    if (!line.trim()) signs = bars = 0;
    if ((depth(line) > DEPTH && !/^[-*_ \t]+$/.test(line)) || line.search(/[^ \t]/) > INDENT) return false;
    for (let i = 0, word = 0; i < line.length; i++) {
      const c = line.charCodeAt(i);
      word = isSpace(c) ? 0 : word + 1;
      if (word > WORD) return false;
      if (c === 124) bars++;
      else if (c === 42 || c === 95 || c === 126 || c === 96 || c === 91 || c === 93 || c === 60 || c === 64 || c === 33 || c === 92 || c === 38) signs++; // * _ ~ ` [ ] < @ ! \ &
    }
    if (signs > SIGNS || bars > BARS) return false;
  }
  return true;
}
