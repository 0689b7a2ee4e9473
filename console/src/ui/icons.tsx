// icons.tsx - small line drawings, 16 by 16, in the colour of the text around them.
const PATHS = {
  inbox: "M2 9.5 4 3h8l2 6.5V13H2zM2 9.5h3.5l1 1.5h3l1-1.5H14",
  agents: "M8 2v2M4 4h8v7H4zM6.5 7v1M9.5 7v1M2 7v2M14 7v2M5 13.5h6",
  sessions: "M2.5 3h11v8h-6l-3 2.5V11h-2z",
  costs: "M2.5 13.5h11M4 11V7M8 11V3M12 11V5.5",
  audit: "M4 2h6l2.5 2.5V14H4zM6 7h4.5M6 9.5h4.5M6 12h2.5",
  settings: "M2 4.5h5M10 4.5h4M8.5 3v3M2 11.5h2M7 11.5h7M5.5 10v3",
  admin: "M8 1.8 13.5 4v4c0 3-2.3 5.2-5.5 6.200C4.8 13.2 2.5 11 2.5 8V4zM5.8 8l1.6 1.6 2.9-3",
  people: "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.500c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3.200a2.5 2.5 0 0 1 0 4.600M12 9.800c1.5.6 2.5 1.9 2.5 3.7",
  key: "M5.5 10.500a3 3 0 1 1 2.8-4H14v2.500h-1.800V11h-2.400V9H8.300a3 3 0 0 1-2.8 1.500z",
  plug: "M6 2v3M10 2v3M4 5h8v2.500a4 4 0 0 1-8 0zM8 11.500V14",
  model: "M8 2l5.5 3v6L8 14l-5.5-3V5zM8 8l5.5-3M8 8v6M8 8 2.5 5",
  skill: "M3 2.500h6.500A2.5 2.5 0 0 1 12 5v8.500H5.500A2.5 2.5 0 0 1 3 11zM3 11a2 2 0 0 1 2-2h7",
  tool: "M9.5 6.5 3.5 12.500M11 2.500a3 3 0 0 0-2.5 4.200l.8.800A3 3 0 0 0 13.5 5l-1.8 1.2-1.5-.6-.5-1.500z",
  book: "M8 3.500C6.5 2.5 4.5 2.3 2.5 2.500v10c2-.2 4 0 5.5 1 1.5-1 3.5-1.2 5.5-1v-10c-2-.2-4 0-5.5 1zM8 3.500v10",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.6 10.6 14 14",
  plus: "M8 3v10M3 8h10",
  star: "M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.200L8 11.400l-3.7 2.1.8-4.200L2 6.400l4.2-.500z",
  close: "M4 4l8 8M12 4l-8 8",
  check: "M3 8.5 6.5 12 13 4.5",
  warn: "M8 2.5 14.5 13.500h-13zM8 6.500v3.500M8 11.500v.5",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  right: "M6 4l4 4-4 4",
  copy: "M5.5 5.500h8v8h-8zM3 10.500H2.500v-8h8V3",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.500M8 13.500V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13 9.500A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.500z",
  user: "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c0-3 2.5-4.5 5.5-4.500s5.5 1.5 5.5 4.5",
  menu: "M2.5 4.500h11M2.5 8h11M2.5 11.500h11",
  link: "M7 9a2.5 2.5 0 0 0 3.6.2l2-2A2.5 2.5 0 0 0 9 3.600l-.8.8M9 7a2.5 2.5 0 0 0-3.6-.2l-2 2A2.5 2.5 0 0 0 7 12.400l.8-.8",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.500V8l2.5 1.5",
  stop: "M4 4h8v8H4z",
  branch: "M4.5 2.500v11M4.5 10.500c4 0 7-1.500 7-5.500M9.300 5l2.200-2.500L13.700 5",
  send: "M2.5 8h10M9 4l4 4-4 4",
  mail: "M2 3.500h12v9H2zM2 4l6 5 6-5",
  file: "M4 2h5l3 3v9H4zM9 2v3h3",
  folder: "M2 4h4.500l1.5 2H14v7H2z",
  bucket: "M3 5h10l-1.2 8.500H4.200zM3 5c0-1.400 2.200-2.500 5-2.500s5 1.100 5 2.500",
  download: "M8 2.500v7.500M5 7l3 3 3-3M3 13h10",
  trash: "M3 4.500h10M6.5 4.500V3h3v1.500M4.5 4.500l.5 9h6l.5-9",
  edit: "M3 13l.6-2.800L10.8 3l2.2 2.2-7.2 7.200z",
  out: "M6.5 2.500H3v11h3.500M7 8h7M11 5l3 3-3 3",
  help: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM6.2 6.300c.2-1 1-1.5 1.8-1.5 1 0 1.8.6 1.8 1.600C9.8 7.6 8 7.8 8 9.200M8 11.200v.2",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}
