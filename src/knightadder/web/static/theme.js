// The light or dark theme. Until the user chooses a theme, the page uses the one that the system prefers.

const preference = matchMedia("(prefers-color-scheme: dark)");

export function startTheme(button) {
  const render = () => {
    const dark = (localStorage.getItem("theme") ?? (preference.matches ? "dark" : "light")) === "dark";
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    button.setAttribute("aria-pressed", String(dark));
  };
  preference.addEventListener("change", render);
  button.addEventListener("click", () => {
    const dark = document.documentElement.dataset.theme === "dark";
    localStorage.setItem("theme", dark ? "light" : "dark");
    render();
  });
  render();
}
