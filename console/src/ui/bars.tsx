// bars.tsx - stacked bars, and the same as a table: nothing is said by colour alone.
export interface Stack { label: string; parts: number[] }

const HEIGHT = 200;

/** A round number that is not less. */
function roof(most: number): number {
  if (most <= 0) return 1;
  const ten = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 2.5, 5, 10].find((n) => n * ten >= most) ?? 10) * ten;
}

/** Of a round number, without noughts that say nothing: $0.50, not $0.5000. */
const brief = (text: string): string => text.replace(/(\.\d\d)(\d*?)0+$/, "$1$2");

export function Bars({ label, names, stacks, show, table }: { label: string; names: string[]; stacks: Stack[]; show: (value: number) => string; table: boolean }) {
  const sums = stacks.map((s) => s.parts.reduce((a, b) => a + b, 0));
  const top = roof(Math.max(0, ...sums));
  const peak = sums.indexOf(Math.max(...sums));
  if (table)
    return (
      <div class="scrolls" tabIndex={0} role="region" aria-label={label}>
        <table class="data" aria-label={label}>
          <thead><tr><th scope="col">Time (UTC)</th>{names.map((n, i) => <th key={i} scope="col" class="figure">{n}</th>)}<th scope="col" class="figure">Together</th></tr></thead>
          <tbody>{stacks.map((s, i) => <tr key={s.label}><th scope="row">{s.label}</th>{names.map((_, k) => <td key={k} class="figure">{show(s.parts[k] ?? 0)}</td>)}<td class="figure">{show(sums[i] ?? 0)}</td></tr>)}</tbody>
        </table>
      </div>
    );
  return (
    <figure class="bars">
      <div class="bars-scale" aria-hidden="true"><span>{brief(show(top))}</span><span>{brief(show(top / 2))}</span><span>{show(0)}</span></div>
      <svg viewBox={`0 0 ${Math.max(1, stacks.length) * 10} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${stacks.length} bars, the highest ${show(sums[peak] ?? 0)} at ${stacks[peak]?.label ?? ""}. The switch "Bars as a table" shows the figures.`}>
        <path class="grid" d={`M0 .5H${stacks.length * 10}M0 ${HEIGHT / 2}H${stacks.length * 10}`} vector-effect="non-scaling-stroke" />
        {stacks.map((s, i) => {
          let y = HEIGHT;
          return (
            <g key={s.label}>
              <title>{`${s.label}: ${show(sums[i] ?? 0)}${names.map((n, k) => (s.parts[k] ? `\n${n}: ${show(s.parts[k] ?? 0)}` : "")).join("")}`}</title>
              <rect class="catch" x={i * 10} y={0} width={10} height={HEIGHT} />
              {s.parts.map((part, k) => {
                const height = (part / top) * HEIGHT;
                y -= height;
                return part > 0 && <rect key={k} class={`series-${k + 1}`} x={i * 10 + 1} y={y} width={8} height={height} />;
              })}
            </g>
          );
        })}
      </svg>
      <div class="bars-ends" aria-hidden="true"><span>{stacks[0]?.label}</span><span>{stacks.at(-1)?.label}</span></div>
      <figcaption>{names.map((n, i) => <span key={i} class="swatched"><svg width="10" height="10" aria-hidden="true"><rect width="10" height="10" class={`series-${i + 1}`} /></svg>{n}</span>)}</figcaption>
    </figure>
  );
}
