"use strict";
(() => {
  const root = document.documentElement;

  // A chart is drawn beside its still image and takes its place when it is complete.
  const draw = async (host) => {
    const spec = JSON.parse(document.getElementById(host.dataset.figure + "-spec").textContent);
    const still = host.querySelector("img");
    const live = document.createElement("div");
    await window.vegaEmbed(live, spec, {
      renderer: "svg",
      ast: true,
      actions: false,
      defaultStyle: false,
      tooltip: { disableDefaultStyle: true },
    });
    live.className = "live";
    live.setAttribute("role", "img");
    live.setAttribute("aria-label", still.alt);
    host.replaceChildren(live);
  };

  const drawAll = async () => {
    const hosts = [...document.querySelectorAll(".chart[data-figure]")];
    if (!hosts.length) return "none";
    if (!window.vegaEmbed) return "still";
    const results = await Promise.allSettled(hosts.map(draw));
    for (const result of results) if (result.status === "rejected") console.error(String(result.reason));
    return results.every((result) => result.status === "fulfilled") ? "drawn" : "failed";
  };

  drawAll().then((state) => {
    document.dispatchEvent(new Event("drawn"));
    root.dataset.charts = state;
  });

  // Paper has no summary to click: the data is open while printing.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details.data:not([open])")];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });
})();
