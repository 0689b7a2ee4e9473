// memo.ts - a component that is made again only when what it is given has changed.
import { Component, type ComponentChildren, type FunctionComponent, createElement } from "preact";

export function memo<P extends object>(inner: FunctionComponent<P>): FunctionComponent<P> {
  class Memo extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const keys = Object.keys(next) as (keyof P)[];
      return keys.length !== Object.keys(this.props).length || keys.some((key) => next[key] !== this.props[key]);
    }
    override render(props: P): ComponentChildren {
      return createElement(inner, props);
    }
  }
  return Memo as unknown as FunctionComponent<P>;
}
