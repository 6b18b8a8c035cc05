/** What an exported page (view_page.py) defines before view_page.js: a plotly figure, colours, and plotly itself. */
declare const figure: { data: object[]; layout: { font: object } };
declare const palettes: Record<"light" | "dark", { text: string; paper: string }>;
declare const Plotly: {
  react(element: string, data: object[], layout: object, config: object): void;
  register(locale: object): void;
};
