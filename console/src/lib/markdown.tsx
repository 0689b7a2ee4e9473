// markdown.tsx - what models and people write, as nodes.
//
// Nothing here makes markup of text: HTML in the source is shown as it was written, links lead to http, https and
// mailto only, and a picture is its words and its address, because loading it would tell its server who reads.  Blocks
// that have settled are made once: while a text grows only its last block is made again.
import { Lexer, type Links, type Token, type Tokens } from "marked";
import { Component, type ComponentChildren, createRef } from "preact";
import { useMemo } from "preact/hooks";
import { Copy } from "../ui/copy";
import { memo } from "../ui/memo";
import { coloured } from "./colour";
import { unturned } from "./format";
import { readable } from "./readable";

/** What [names] lead to; without those that every object has. */
const known = (links: Links = {}): Links => Object.assign(Object.create(null) as Links, links);

/** As one token that is shown as it is, where reading it would take too long.  `links`: what [names] lead to that stand elsewhere; those of this text come to them. */
const lexed = (text: string, links = known()): Token[] => {
  if (readable(text)) {
    try {
      const lexer = new Lexer();
      lexer.tokens.links = links;
      return lexer.lex(text);
    } catch {
      // deeper than the stack
    }
  }
  return [{ type: "unread", raw: text }];
};

function safe(href: string): string | null {
  try {
    return ["http:", "https:", "mailto:"].includes(new URL(href).protocol) ? href : null;
  } catch {
    return null;
  }
}

const plain = (text: string): string => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name] ?? "");

function inline(tokens: Token[] | undefined): ComponentChildren {
  return tokens?.map((t, i) => {
    switch (t.type) {
      case "strong": return <strong key={i}>{inline(t.tokens)}</strong>;
      case "em": return <em key={i}>{inline(t.tokens)}</em>;
      case "del": return <del key={i}>{inline(t.tokens)}</del>;
      case "codespan": return <code key={i}>{plain((t as Tokens.Codespan).text)}</code>;
      case "br": return <br key={i} />;
      case "link": {
        const href = safe((t as Tokens.Link).href);
        return href ? <a key={i} href={href} target="_blank" rel="noreferrer noopener">{inline(t.tokens)}</a> : <span key={i}>{inline(t.tokens)}</span>;
      }
      case "image": {
        const { text, href } = t as Tokens.Image;
        return <span key={i} class="picture">[{text || "picture"}: {href}]</span>;
      }
      case "text": return "tokens" in t && t.tokens ? inline(t.tokens) : plain((t as Tokens.Text).text);
      case "escape": return plain((t as Tokens.Escape).text);
      default: return t.raw;
    }
  });
}

function Item({ item, live }: { item: Tokens.ListItem; live: boolean }) {
  return <li>{item.task && <input type="checkbox" checked={item.checked ?? false} disabled aria-label={item.checked ? "done" : "not done"} />}{blocks(item.tokens.filter((t) => t.type !== "checkbox"), live)}</li>;
}

/** `live`: more may come, so that it will be made again; colour waits. */
function block(t: Token, key: number, live: boolean): ComponentChildren {
  switch (t.type) {
    case "space": case "def": return null;
    case "heading": {
      const Level = `h${Math.min(6, (t as Tokens.Heading).depth + 2)}` as "h3";
      return <Level key={key}>{inline(t.tokens)}</Level>;
    }
    case "paragraph": return <p key={key}>{inline(t.tokens)}</p>;
    case "text": return <span key={key}>{"tokens" in t && t.tokens ? inline(t.tokens) : plain((t as Tokens.Text).text)}</span>;
    case "code": return <div key={key} class="code"><Copy text={(t as Tokens.Code).text} /><pre tabIndex={0}><code>{live ? (t as Tokens.Code).text : coloured((t as Tokens.Code).text, (t as Tokens.Code).lang)}</code></pre></div>;
    case "blockquote": return <blockquote key={key}>{blocks(t.tokens ?? [], live)}</blockquote>;
    case "hr": return <hr key={key} />;
    case "list": {
      const list = t as Tokens.List;
      const items = list.items.map((item, i) => <Item key={i} item={item} live={live} />);
      return list.ordered ? <ol key={key} start={Number(list.start) || 1}>{items}</ol> : <ul key={key}>{items}</ul>;
    }
    case "table": {
      const { header, rows } = t as Tokens.Table;
      return (
        <div key={key} class="scrolls" tabIndex={0} role="group" aria-label="Table">
          <table><thead><tr>{header.map((c, i) => <th key={i} scope="col">{inline(c.tokens)}</th>)}</tr></thead>
            <tbody>{rows.map((row, i) => <tr key={i}>{row.map((c, k) => <td key={k}>{inline(c.tokens)}</td>)}</tr>)}</tbody></table>
        </div>
      );
    }
    case "unread": return <p key={key} class="raw">{t.raw}</p>;
    default: return <p key={key}>{t.raw}</p>;
  }
}
const blocks = (tokens: Token[], live: boolean): ComponentChildren[] => tokens.map((t, i) => block(t, i, live));

/** Nodes that are made once. */
const Settled = memo(({ nodes }: { nodes: ComponentChildren }) => <>{nodes}</>);

/** A text as nodes. */
export function Markdown({ text }: { text: string }) {
  return <div class="prose">{useMemo(() => blocks(lexed(unturned(text)), false), [text])}</div>;
}

/** A text that only grows: what comes is put at the end of one node, and nothing is made again. */
class Raw extends Component<{ text: string }> {
  #at = createRef<HTMLParagraphElement>();
  override componentDidMount(): void {
    this.#at.current?.append(this.props.text);
  }
  override shouldComponentUpdate({ text }: { text: string }): boolean {
    const node = this.#at.current?.firstChild;
    if (!(node instanceof Text)) return false;
    if (text.length > node.length && text.startsWith(this.props.text)) node.appendData(text.slice(node.length));
    else if (text !== node.data) node.data = text;
    return false;
  }
  override render() {
    return <p class="raw" ref={this.#at} />;
  }
}

const LONG_BLOCK = 4_096, AGAIN_MAX = 8;
/** A part of a text keeps all of it in memory, and blocks keep their parts: a copy of its own does not. */
const apart = (part: string): string => ` ${part}`.slice(1);

/** A text that is being written: blocks that have settled are made once, and only the last is read again; where that one
 *  is long it is plain text until it settles.  What a [name] leads to may be said after it: then all is read again, a few times, and at the end. */
export class Growing extends Component<{ text: string; done: boolean }> {
  #head = "";
  #settled: ComponentChildren[] = [];
  #looked = 0; // of the tail, how much has been read as blocks
  #links = known();
  #again = 0; // how often all was read for what a name leads to
  #owing = false; // it should have been, and was not
  override shouldComponentUpdate(next: { text: string; done: boolean }): boolean {
    return next.text !== this.props.text || next.done !== this.props.done;
  }
  #restart(): void {
    this.#head = "";
    this.#settled = [];
    this.#looked = 0;
  }
  /** Whether these tell of names that blocks before them may have; keeps them. */
  #learn(links: Links): boolean {
    const news = Object.keys(links).filter((name) => !(name in this.#links));
    for (const name of news) this.#links[name] = links[name] ?? { href: "", title: null };
    return news.length > 0;
  }
  override render({ text: said, done }: { text: string; done: boolean }) {
    const text = unturned(said);
    if (!text.startsWith(this.#head)) this.#restart(), (this.#links = known()), (this.#again = 0);
    if (done && this.#owing) this.#restart(), (this.#owing = false);
    for (;;) {
      let tail = text.slice(this.#head.length);
      const plainly = !done && tail.length > LONG_BLOCK && !tail.slice(this.#looked).includes("\n");
      let growing: ComponentChildren[] = [];
      if (!plainly && tail) {
        const links = known(this.#links), first = this.#head === "";
        const all = lexed(apart(tail), links), whole = done ? all : all.slice(0, -1), raw = whole.map((t) => t.raw).join("");
        // What the lexer changes (line ends, tabs) does not add up; then all of it is read again.
        if (done || tail.startsWith(raw)) {
          // The last one may still grow, and with it where it leads.
          const told = done ? links : Object.fromEntries(whole.filter((t): t is Tokens.Def => t.type === "def").map((t) => [t.tag, t]));
          if (this.#learn(told) && !first) {
            if (done || this.#again++ < AGAIN_MAX) {
              this.#restart();
              continue;
            }
            this.#owing = true;
          }
          this.#settled.push(...blocks(whole, false));
          this.#head += done ? tail : raw;
          tail = text.slice(this.#head.length);
          growing = blocks(all.slice(whole.length), true);
        } else growing = blocks(all, true);
        this.#looked = tail.length;
      }
      return (
        <div class="prose" dir="auto">
          {this.#settled.map((nodes, i) => <Settled key={i} nodes={nodes} />)}
          {tail && (tail.length > LONG_BLOCK ? <Raw key="raw" text={tail} /> : growing.map((nodes, i) => <Settled key={this.#settled.length + i} nodes={nodes} />))}
        </div>
      );
    }
  }
}
